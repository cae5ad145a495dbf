//! Z3's fixedpoint format.
//!
//! Z3 accepts a query for only one relation. So all queries become rules for a new relation, which is queried; unless
//! the only query is such a relation by itself.

use std::io;

use rustc_hash::{FxHashMap, FxHashSet};
use shofar_logic::{Op, Sort, Substitution, Symbol, Term};

use super::Printer;
use crate::system::{Atom, Clause};

impl Printer<'_> {
    pub(super) fn datalog(self, out: &mut impl io::Write) -> io::Result<()> {
        if !self.system.sorts.is_empty() {
            // Without a logic Z3 has lists of its own, and refuses others of this name.
            writeln!(out, "(set-logic HORN)")?;
        }
        self.declarations(out)?;
        for (_, fun) in self.system.predicates() {
            let decl = self.store.fun_decl(fun);
            let name = self.store.display_symbol(decl.name);
            writeln!(out, "(declare-rel {name} ({}))", self.sorts(&decl.domain))?;
        }
        let mut taken = self.taken_names();
        let asked = self.asked_relation();
        let mut new = (0..).map(|number| self.store.symbol(&format!("query!{number}")));
        let new = new.find(|&name| taken.insert(name));
        let goal = asked.or(new).expect("there are more names than taken ones");
        let goal = self.store.display_symbol(goal);
        let has_query = self.system.clauses.iter().any(Clause::is_query);
        if has_query && asked.is_none() {
            writeln!(out, "(declare-rel {goal} ())")?;
        }
        for clause in &self.declare_variables(taken, out)? {
            if clause.is_query() && asked.is_some() {
                continue;
            }
            writeln!(out, "(rule (=>")?;
            self.body(clause, 2, out)?;
            write!(out, "  ")?;
            match &clause.head {
                Some(head) => self.atom(head, out)?,
                None => write!(out, "{goal}")?,
            }
            match clause.name {
                Some(name) => writeln!(out, ") {})", self.store.display_symbol(name))?,
                None => writeln!(out, "))")?,
            }
        }
        if has_query {
            writeln!(out, "(query {goal})")?;
        }
        Ok(())
    }

    /// The relation of the only query, if the query is just a relation without arguments.
    fn asked_relation(self) -> Option<Symbol> {
        let mut queries = self.system.clauses.iter().filter(|clause| clause.is_query());
        match (queries.next(), queries.next()) {
            (Some(Clause { body, constraint: Term::TRUE, .. }), None) => match &**body {
                [Atom { predicate, args }] if args.is_empty() => {
                    Some(self.store.fun_decl(self.system.fun(*predicate)).name)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// All names in use.
    fn taken_names(self) -> FxHashSet<Symbol> {
        let funs = self.system.predicates().map(|(_, fun)| fun).chain(self.system.functions.iter().copied());
        let mut taken: FxHashSet<Symbol> = funs.map(|fun| self.store.fun_decl(fun).name).collect();
        for clause in &self.system.clauses {
            taken.extend(clause.variables.iter().map(|&v| self.variable_name(v)));
        }
        taken
    }

    /// Declares each variable once for all clauses, and returns the clauses over these variables. A name can have only
    /// one sort, so variables of the same name and another sort are renamed.
    fn declare_variables(
        self,
        mut taken: FxHashSet<Symbol>,
        out: &mut impl io::Write,
    ) -> io::Result<Vec<Clause>> {
        let store = self.store;
        let mut sorts: FxHashMap<Symbol, Sort> = FxHashMap::default();
        let mut renamed: FxHashMap<Term, Term> = FxHashMap::default();
        let mut clauses = Vec::with_capacity(self.system.clauses.len());
        for clause in &self.system.clauses {
            let mut renaming = Substitution::default();
            for &variable in &clause.variables {
                let sort = store.sort_of(variable);
                let name = self.variable_name(variable);
                let known = *sorts.entry(name).or_insert(sort);
                if known == sort {
                    continue;
                }
                let image = *renamed.entry(variable).or_insert_with(|| {
                    let mut suffix = 1;
                    loop {
                        let fresh = store.symbol(&format!("{}!{suffix}", store.name(name)));
                        if taken.insert(fresh) {
                            sorts.insert(fresh, sort);
                            return store.var(fresh, sort);
                        }
                        suffix += 1;
                    }
                });
                renaming.insert(variable, image);
            }
            let apply = |term| store.substitute(term, &renaming);
            let atom = |atom: &Atom| Atom {
                predicate: atom.predicate,
                args: atom.args.iter().map(|&arg| apply(arg)).collect(),
            };
            clauses.push(Clause {
                variables: clause.variables.iter().map(|&v| apply(v)).collect(),
                body: clause.body.iter().map(atom).collect(),
                constraint: apply(clause.constraint),
                head: clause.head.as_ref().map(atom),
                name: clause.name,
                position: clause.position,
                written: None,
            });
        }
        let mut declared: FxHashSet<Term> = FxHashSet::default();
        for clause in &clauses {
            for &variable in &clause.variables {
                if declared.insert(variable) {
                    let sort = store.display_sort(store.sort_of(variable));
                    writeln!(out, "(declare-var {} {sort})", store.display(variable))?;
                }
            }
        }
        Ok(clauses)
    }

    fn variable_name(self, variable: Term) -> Symbol {
        match self.store.op(variable) {
            Op::Var(name) => name,
            _ => unreachable!("clauses quantify over variables"),
        }
    }
}
