# cvc5 as a judge: reads scripts, each before a line `;;;`, and prints a line with its answer for each; `unknown` also
# for what it does not support.
import sys

import cvc5


def answer(script):
    solver = cvc5.Solver()
    try:
        parser = cvc5.InputParser(solver)
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "script")
        said = ""
        while not (command := parser.nextCommand()).isNull():
            said += command.invoke(solver, parser.getSymbolManager())
    except RuntimeError:
        return "unknown"
    return said.strip() if said.strip() in ("sat", "unsat") else "unknown"


lines = []
for line in sys.stdin:
    if line == ";;;\n":
        print(answer("".join(lines)), flush=True)
        lines = []
    else:
        lines.append(line)
