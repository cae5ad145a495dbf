#!/bin/sh
# Asks a number of tiny queries of both solvers, with Z3 from the Python package z3-solver: bench/tiny_queries.sh [QUERIES]
set -eu
cd "$(dirname "$0")/.."
queries=${1:-100000}
z3=$(python3 -c 'import os, z3; print(os.path.dirname(z3.__file__))')
program=$(mktemp)
trap 'rm -f "$program"' EXIT
cc -O2 -I"$z3/include" bench/tiny_queries.c -o "$program" -L"$z3/lib" -Wl,-rpath,"$z3/lib" -lz3
echo "shofar"
cargo bench --quiet -p shofar-smt --bench tiny_queries -- "$queries"
echo "z3"
"$program" "$queries"
