/* The queries of crates/smt/benches/tiny_queries.rs, asked to Z3 through its C interface in one process.
 *
 * Terms, random numbers and output are those of the Rust program. Z3 gets what suits it best: its simple incremental
 * solver, and the literals themselves as assumptions (with constants that imply them it took nearly twice as long).
 * Reference counts are kept on solvers only; the terms live as long as the context.
 *
 * bench/tiny_queries.sh compiles and runs both. */

#define _POSIX_C_SOURCE 199309L

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <z3.h>

enum { ATOMS = 200, CLAUSES = 20, LITERALS = 10, PARTS = 10 };

static Z3_context context;
static uint64_t state;
/* For each atom its negation and itself. */
static Z3_ast atoms[ATOMS][2];

static unsigned below(unsigned bound) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(state >> 33) % bound;
}

static Z3_ast literal(void) {
  unsigned atom = below(ATOMS);
  return atoms[atom][below(2)];
}

static Z3_ast clause(unsigned size) {
  Z3_ast literals[3];
  for (unsigned i = 0; i < size; i++) literals[i] = literal();
  return Z3_mk_or(context, size, literals);
}

static void make_vars(Z3_ast *vars, const char *prefix, unsigned count, Z3_sort sort) {
  for (unsigned i = 0; i < count; i++) {
    char name[16];
    snprintf(name, sizeof name, "%s%u", prefix, i);
    vars[i] = Z3_mk_const(context, Z3_mk_string_symbol(context, name), sort);
  }
}

static Z3_ast difference(Z3_ast *vars, unsigned count) {
  unsigned first = below(count);
  unsigned second = (first + 1 + below(count - 1)) % count;
  Z3_ast sides[2] = {vars[first], vars[second]};
  return Z3_mk_sub(context, 2, sides);
}

static Z3_ast bound(Z3_sort sort) { return Z3_mk_int(context, (int)below(41) - 20, sort); }

static void make_atoms(void) {
  Z3_sort int_sort = Z3_mk_int_sort(context), real_sort = Z3_mk_real_sort(context);
  Z3_sort bool_sort = Z3_mk_bool_sort(context);
  Z3_ast ints[10], reals[5], bools[5];
  make_vars(ints, "x", 10, int_sort);
  make_vars(reals, "r", 5, real_sort);
  make_vars(bools, "b", 5, bool_sort);
  for (unsigned i = 0; i < ATOMS; i++) {
    unsigned kind = below(10);
    Z3_ast left, atom;
    if (kind <= 1) {
      atom = bools[below(5)];
    } else if (kind <= 5) {
      left = ints[below(10)];
      atom = Z3_mk_le(context, left, bound(int_sort));
    } else if (kind <= 7) {
      left = difference(ints, 10);
      atom = Z3_mk_le(context, left, bound(int_sort));
    } else if (kind == 8) {
      left = reals[below(5)];
      atom = Z3_mk_le(context, left, bound(real_sort));
    } else {
      left = difference(reals, 5);
      atom = Z3_mk_lt(context, left, bound(real_sort));
    }
    atoms[i][0] = Z3_mk_not(context, atom);
    atoms[i][1] = atom;
  }
}

static Z3_solver new_solver(void) {
  Z3_solver solver = Z3_mk_simple_solver(context);
  Z3_solver_inc_ref(context, solver);
  return solver;
}

static Z3_solver with_clauses(void) {
  Z3_solver solver = new_solver();
  for (unsigned i = 0; i < CLAUSES; i++) Z3_solver_assert(context, solver, clause(3));
  return solver;
}

/* Answers and times. */
static long part, sat, unsat;
static double start, ends[PARTS + 2];
static unsigned parts;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void count(Z3_lbool answer) {
  if (answer == Z3_L_TRUE) {
    sat++;
  } else if (answer == Z3_L_FALSE) {
    unsat++;
  } else {
    fprintf(stderr, "no query is hard\n");
    exit(1);
  }
  if ((sat + unsat) % part == 0 && parts < PARTS + 1) ends[++parts] = now() - start;
}

static void solvers(long queries) {
  for (long query = 0; query < queries; query++) {
    Z3_solver solver = new_solver();
    for (unsigned i = 0; i < LITERALS; i++) Z3_solver_assert(context, solver, literal());
    count(Z3_solver_check(context, solver));
    Z3_solver_dec_ref(context, solver);
  }
}

static void assumptions(long queries) {
  Z3_solver solver = with_clauses();
  for (long query = 0; query < queries; query++) {
    Z3_ast assumed[LITERALS];
    for (unsigned i = 0; i < LITERALS; i++) assumed[i] = literal();
    count(Z3_solver_check_assumptions(context, solver, LITERALS, assumed));
  }
}

static void frames(long queries) {
  Z3_solver solver = with_clauses();
  Z3_ast clauses[ATOMS];
  for (unsigned i = 0; i < ATOMS; i++) clauses[i] = clause(2);
  for (long query = 0; query < queries; query++) {
    Z3_solver_push(context, solver);
    for (unsigned i = 0; i < 3; i++) Z3_solver_assert(context, solver, literal());
    Z3_solver_assert(context, solver, clauses[below(ATOMS)]);
    count(Z3_solver_check(context, solver));
    Z3_solver_pop(context, solver, 1);
  }
}

int main(int argc, char **argv) {
  long queries = argc > 1 ? atol(argv[1]) : 100000;
  struct {
    const char *name;
    void (*run)(long);
  } modes[] = {{"solvers", solvers}, {"assumptions", assumptions}, {"frames", frames}};
  printf("mode          queries     sat   unsat  us/query   first    last\n");
  for (unsigned i = 0; i < 3; i++) {
    if (argc > 2 && strcmp(argv[2], modes[i].name) != 0) continue;
    Z3_config config = Z3_mk_config();
    context = Z3_mk_context(config);
    Z3_del_config(config);
    state = 1;
    make_atoms();
    part = queries >= PARTS ? queries / PARTS : 1;
    sat = unsat = 0;
    parts = 0;
    start = now();
    modes[i].run(queries);
    printf("%-11s %9ld %7ld %7ld %9.2f %7.2f %7.2f\n", modes[i].name, sat + unsat, sat, unsat,
           ends[parts] * 1e6 / (double)queries, ends[1] * 1e6 / (double)part,
           (ends[parts] - ends[parts - 1]) * 1e6 / (double)part);
    fflush(stdout);
    Z3_del_context(context);
  }
  return 0;
}
