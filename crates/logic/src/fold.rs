//! Folds: functions on datatypes by structural recursion.
//!
//! A *fold* maps the values of a datatype to values of any sort. It has a *case* for each constructor: a term over the fields
//! of the constructor and the values of folds at these fields.
//!
//! ```text
//! len(nil) = 0          count(nil, g) = 0
//! len(cons(h, t)) = 1 + len(t)          count(cons(h, t), g) = count(t, g) + ite(h = g, 1, 0)
//! ```
//!
//! Folds that call each other are defined together, as a *family*. In the literature a family is an algebra: its carriers are
//! the ranges, and its operations are the cases. With a finite range it is a deterministic bottom-up tree automaton. *Ghosts*, as
//! `g` above, are further parameters. Most calls pass them on unchanged. A call may also change them, as those of
//! a *synchronous* automaton do, which reads several values at the same time:
//!
//! ```text
//! lt(zero, y) = is-succ(y)          lt(succ(x), y) = is-succ(y) and lt(x, pred(y))
//! ```
//!
//! - F1: a case applies functions of its family only to a field and to ghosts, which may be any terms without folds over fields and
//!   ghosts, and other functions only if they are folds that were defined before. So each fold has exactly one value for each argument
//!   and all ghosts: by induction on the families and, for all ghosts at the same time, on the first argument.
//! - F2: cases are normal terms without quantifiers; their only variables are the fields and the ghosts, under fixed names.
//! - F3: no case multiplies values of folds with each other, and no call has products of ghosts. So the digits of values
//!   grow at most linearly with the argument.
//! - F4: families with equal cases are one family, whatever their functions are called.
//! - F5: calls change ghosts to parts of fields and ghosts, or to constants; or else no case of the family has more than one
//!   call. In the first case the calls of an evaluation are as many as the tuples of parts of the arguments, in the second as the
//!   first argument is high. So evaluation with a table of calls takes polynomial time.
//!
//! Formulas apply folds like declared functions, but the meaning of folds is fixed: evaluation knows it, and
//! [`TermStore::unfold`] replaces an application by its case. A *lemma* is a formula about the folds of one value, such as
//! `len(x) >= 0`. The store only keeps this claim. Its users must prove it, by one induction step for each constructor.

use std::fmt;

use rustc_hash::FxHashSet;

use crate::datatype::Definitions;
use crate::op::Op;
use crate::sort::{ConstructorId, Fun, Sort, Symbol};
use crate::subst::Substitution;
use crate::term::{Term, TermStore};

/// A function by structural recursion over a datatype.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fold {
    /// The function. Its first argument is the value of the datatype, the others are ghosts.
    pub fun: Fun,
    /// The functions defined together with it, including itself.
    pub family: Box<[Fun]>,
    /// The variables of the ghosts.
    pub ghosts: Box<[Term]>,
    /// Whether a call in the family changes ghosts.
    pub changes_ghosts: bool,
    /// A case for each constructor, in the order of the datatype.
    pub cases: Box<[FoldCase]>,
}

/// The value of a fold for one constructor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoldCase {
    /// The constructor.
    pub constructor: ConstructorId,
    /// The variables of its fields.
    pub fields: Box<[Term]>,
    /// The value, over the fields and the ghosts.
    pub value: Term,
}

/// The definition of a fold, for [`TermStore::define_folds`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoldSpec {
    /// The function, made by [`TermStore::new_fold`].
    pub fun: Fun,
    /// Different variables for the ghosts.
    pub ghosts: Vec<Term>,
    /// A case for each constructor, in the order of the datatype, over different variables for the fields.
    pub cases: Vec<FoldCase>,
}

/// A claim about the folds of one value, for all values and all ghosts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoldLemma {
    /// Different variables: the value of a datatype, and the ghosts.
    pub parameters: Box<[Term]>,
    /// A formula over the parameters without quantifiers.
    pub formula: Term,
}

/// Why a family of folds is not defined by structural recursion.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FoldError {
    /// The cases do not fit the datatype, or the value of a case does not have the range of the function.
    Malformed(String),
    /// A function of the family is not applied to a field, or to ghosts with folds.
    NotStructural {
        /// The function being defined.
        function: String,
        /// The constructor of the case.
        constructor: String,
        /// The application.
        application: String,
    },
    /// A case mentions a variable that is neither a field nor a ghost, or applies a function without definition.
    Undefined {
        /// The function being defined.
        function: String,
        /// The variable or function.
        symbol: String,
    },
    /// A case has a quantifier.
    Quantifier(String),
    /// A case multiplies values of folds, or the ghosts of a call.
    Product(String),
    /// Calls change ghosts to other terms than parts of what there is, and a case has several calls.
    Growing(String),
}

impl fmt::Display for FoldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FoldError::Malformed(function) => write!(f, "the cases of `{function}` do not fit its sorts"),
            FoldError::NotStructural { function, constructor, application } => write!(
                f,
                "the recursion of `{function}` is not structural: for `{constructor}`, `{application}` is not an \
                 application to a field and to other parameters without recursive functions"
            ),
            FoldError::Undefined { function, symbol } => {
                write!(f, "the definition of `{function}` mentions `{symbol}`, which has no definition")
            }
            FoldError::Quantifier(function) => {
                write!(f, "the definition of the recursive function `{function}` has a quantifier")
            }
            FoldError::Product(function) => {
                write!(
                    f,
                    "the definition of `{function}` multiplies values of recursive functions or parameters of a call"
                )
            }
            FoldError::Growing(function) => {
                write!(f, "the definition of `{function}` has several calls, and calls whose parameters grow")
            }
        }
    }
}

impl std::error::Error for FoldError {}

/// The cases of a family, without the names of its functions.
pub(crate) type FamilyKey = Box<[(Box<[Sort]>, Sort, Box<[Term]>)]>;

impl Fold {
    /// The datatype.
    pub fn sort(&self, store: &TermStore) -> Sort {
        store.fun_decl(self.fun).domain[0]
    }

    /// The case of a constructor of the datatype.
    pub fn case(&self, store: &TermStore, constructor: ConstructorId) -> &FoldCase {
        &self.cases[store.constructor(constructor).index as usize]
    }
}

impl TermStore {
    /// A function that [`define_folds`](Self::define_folds) will define. It has this name, unless there is a function with
    /// this name and these sorts already. A caller that does not know which names are free gives a
    /// [fresh](Self::fresh_symbol) one.
    ///
    /// # Panics
    /// If the first sort is not a datatype.
    pub fn new_fold(&self, name: Symbol, datatype: Sort, ghosts: &[Sort], range: Sort) -> Fun {
        assert!(self.datatype(datatype).is_some(), "folds are functions of datatypes");
        let domain: Vec<Sort> = [datatype].iter().chain(ghosts).copied().collect();
        self.new_fun(name, &domain, range).unwrap_or_else(|| {
            let name = self.fresh_symbol(self.name(name));
            self.fun(name, &domain, range)
        })
    }

    /// Defines a family of folds, and returns the functions to use from now on: those of an equal family defined before,
    /// otherwise the given ones.
    ///
    /// # Panics
    /// If a function is defined already.
    pub fn define_folds(&self, family: &[FoldSpec]) -> Result<Box<[Fun]>, FoldError> {
        let functions: Box<[Fun]> = family.iter().map(|spec| spec.fun).collect();
        let folds = family.iter().map(|spec| self.checked_fold(spec, &functions));
        let mut folds = folds.collect::<Result<Vec<Fold>, FoldError>>()?;
        self.check_ghosts(&mut folds, &functions)?;
        let key = self.family_key(&folds, &functions);
        let mut definitions = self.definitions();
        let Definitions { families, .. } = &mut *definitions;
        if let Some(known) = families.get(&key) {
            return Ok(known.clone());
        }
        folds.into_iter().for_each(|fold| self.set_fold(fold));
        families.insert(key, functions.clone());
        Ok(functions)
    }

    /// The cases of a function from its definition at a variable. The definition may distinguish constructors by testers.
    ///
    /// # Panics
    /// If the variable is not of a datatype.
    pub fn fold_cases(&self, variable: Term, definition: Term) -> Vec<FoldCase> {
        let datatype = self.datatype(self.sort_of(variable)).expect("folds are functions of datatypes");
        let case = |&constructor: &ConstructorId| {
            let sorts = self.constructor(constructor).fields.iter();
            let fields: Box<[Term]> =
                sorts.map(|&(_, sort)| self.var(self.fresh_symbol("field"), sort)).collect();
            let value = self.construct_term(constructor, &fields);
            let value = self.instantiate(definition, &Substitution::from_iter([(variable, value)]));
            FoldCase { constructor, fields, value }
        };
        datatype.constructors().iter().map(case).collect()
    }

    /// The definition of a function, if it is a fold.
    pub fn fold(&self, fun: Fun) -> Option<&Fold> {
        self.fold_of(fun)
    }

    /// The fold that a term applies.
    pub fn applied_fold(&self, term: Term) -> Option<&Fold> {
        match self.op(term) {
            Op::Apply(fun) => self.fold(fun),
            _ => None,
        }
    }

    /// The value of an application of a fold by its definition, in normal form. If the argument is made by a constructor, it is
    /// that constructor's case; otherwise it is a choice between all cases by testers, with selectors for the fields.
    pub fn unfold(&self, application: Term) -> Option<Term> {
        let fold = self.applied_fold(application)?;
        let (&argument, ghosts) = self.args(application).split_first()?;
        let at = |case: &FoldCase, fields: &[Term]| {
            let pairs = case.fields.iter().zip(fields).chain(fold.ghosts.iter().zip(ghosts));
            self.instantiate(case.value, &pairs.map(|(&variable, &term)| (variable, term)).collect())
        };
        if let (Op::Construct(constructor), fields) = self.view(argument) {
            return Some(at(fold.case(self, constructor), fields));
        }
        let argument = self.normalize(argument);
        let selected = |case: &FoldCase| {
            let fields = 0..case.fields.len() as u32;
            let fields: Vec<Term> =
                fields.map(|field| self.selector(case.constructor, field, argument)).collect();
            at(case, &fields)
        };
        let (last, others) = fold.cases.split_last()?;
        let choice = |result: Term, case: &FoldCase| {
            self.ite(self.tester(case.constructor, argument), selected(case), result)
        };
        Some(others.iter().rev().fold(selected(last), choice))
    }

    /// The folds that terms apply, and those that their definitions apply, each once and after the folds that it calls, unless they
    /// are of its family.
    pub fn folds_in(&self, terms: &[Term]) -> Vec<Fun> {
        let called = |terms: &[Term]| {
            let funs = self.symbols(terms).funs;
            funs.into_iter().filter(|&fun| self.fold(fun).is_some()).collect::<Vec<Fun>>()
        };
        let mut seen: FxHashSet<Fun> = FxHashSet::default();
        let mut found: Vec<Fun> = Vec::new();
        // A family is entered, then what it calls, and it is left after that.
        let mut open: Vec<(Fun, bool)> = called(terms).into_iter().rev().map(|fun| (fun, false)).collect();
        while let Some((fun, is_left)) = open.pop() {
            let Some(fold) = self.fold(fun) else { continue };
            if is_left {
                found.extend_from_slice(&fold.family);
            } else if !seen.contains(&fun) {
                seen.extend(fold.family.iter().copied());
                open.push((fun, true));
                let members = fold.family.iter().filter_map(|&member| self.fold(member));
                let values: Vec<Term> =
                    members.flat_map(|member| member.cases.iter().map(|case| case.value)).collect();
                open.extend(called(&values).into_iter().rev().map(|fun| (fun, false)));
            }
        }
        found
    }

    /// Claims a lemma about folds, for the models that apply them. The claim must be inductive together with the other
    /// claims about these folds: the checker rejects models that depend on a claim it cannot prove.
    pub fn claim_lemma(&self, lemma: &FoldLemma) {
        let parameter = |(position, &variable): (usize, &Term)| {
            self.var(self.symbol(&format!("value{position}")), self.sort_of(variable))
        };
        let parameters: Box<[Term]> = lemma.parameters.iter().enumerate().map(parameter).collect();
        let renaming = lemma.parameters.iter().copied().zip(parameters.iter().copied()).collect();
        let claim = FoldLemma { formula: self.instantiate(lemma.formula, &renaming), parameters };
        // The lock ensures that a claim is made once.
        let _lock = self.definitions();
        if self.lemmas.iter().all(|(_, known)| *known != claim) {
            self.lemmas.push(claim);
        }
    }

    /// The claimed lemmas about some of these functions.
    pub fn claimed_lemmas(&self, functions: &[Fun]) -> Vec<FoldLemma> {
        let is_about = |lemma: &FoldLemma| {
            self.symbols(&[lemma.formula]).funs.iter().any(|applied| functions.contains(applied))
        };
        self.lemmas.iter().map(|(_, lemma)| lemma).filter(|lemma| is_about(lemma)).cloned().collect()
    }

    /// The fold with variables of fixed names, if F1 and F2 hold.
    fn checked_fold(&self, spec: &FoldSpec, family: &[Fun]) -> Result<Fold, FoldError> {
        let declaration = self.fun_decl(spec.fun);
        let function = || self.name(declaration.name).to_owned();
        let malformed = || FoldError::Malformed(function());
        let (&sort, ghosts) = declaration.domain.split_first().ok_or_else(malformed)?;
        let constructors = self.datatype(sort).ok_or_else(malformed)?.constructors();
        let of_cases = spec.cases.iter().map(|case| case.constructor);
        if !of_cases.eq(constructors.iter().copied()) || spec.ghosts.len() != ghosts.len() {
            return Err(malformed());
        }
        let named = |prefix: &str, sorts: &mut dyn Iterator<Item = Sort>| -> Box<[Term]> {
            let variable = |(at, sort): (usize, Sort)| self.var(self.symbol(&format!("{prefix}{at}")), sort);
            sorts.enumerate().map(variable).collect()
        };
        let new_ghosts = named("ghost", &mut ghosts.iter().copied());
        let mut cases: Vec<FoldCase> = Vec::with_capacity(spec.cases.len());
        for FoldCase { constructor, fields, value } in &spec.cases {
            let constructor = *constructor;
            let sorts = self.constructor(constructor).fields.iter().map(|&(_, sort)| sort);
            let new_fields = named("field", &mut sorts.clone());
            let old: Vec<Term> = fields.iter().chain(&spec.ghosts).copied().collect();
            let new: Vec<Term> = new_fields.iter().chain(&new_ghosts).copied().collect();
            let are_variables = old.iter().all(|&variable| matches!(self.op(variable), Op::Var(_)));
            let are_different = old.iter().collect::<FxHashSet<_>>().len() == old.len();
            let of_sorts = old.iter().map(|&variable| self.sort_of(variable));
            if !are_variables
                || !are_different
                || fields.len() != new_fields.len()
                || !of_sorts.eq(new.iter().map(|&variable| self.sort_of(variable)))
                || self.sort_of(*value) != declaration.range
            {
                return Err(malformed());
            }
            let symbols = self.symbols(&[*value]);
            if let Some(&other) = symbols.vars.iter().find(|variable| !old.contains(variable)) {
                let symbol = self.display(other).to_string();
                return Err(FoldError::Undefined { function: function(), symbol });
            }
            let value = self.instantiate(*value, &old.into_iter().zip(new.iter().copied()).collect());
            let case = FoldCase { constructor, fields: new_fields, value };
            self.check_recursion(spec.fun, &case, family)?;
            cases.push(case);
        }
        let (family, cases) = (family.into(), cases.into());
        Ok(Fold { fun: spec.fun, family, ghosts: new_ghosts, changes_ghosts: false, cases })
    }

    /// Checks F1, F3, and that the value has no quantifiers.
    fn check_recursion(&self, fun: Fun, case: &FoldCase, family: &[Fun]) -> Result<(), FoldError> {
        let name = |fun: Fun| self.name(self.fun_decl(fun).name).to_owned();
        if self.is_quantified(case.value) {
            return Err(FoldError::Quantifier(name(fun)));
        }
        let mut with_values: FxHashSet<Term> = FxHashSet::default();
        for term in self.subterms(&[case.value]) {
            let (op, args) = self.view(term);
            let factors = args.iter().filter(|arg| with_values.contains(arg)).count();
            if op == Op::Mul && factors > 1 {
                return Err(FoldError::Product(name(fun)));
            }
            if factors > 0 || matches!(op, Op::Apply(_)) {
                with_values.insert(term);
            }
            let Op::Apply(applied) = op else { continue };
            if !family.contains(&applied) {
                if self.fold(applied).is_none() {
                    return Err(FoldError::Undefined { function: name(fun), symbol: name(applied) });
                }
                continue;
            }
            let is_structural = args.split_first().is_some_and(|(field, ghosts)| {
                case.fields.contains(field) && ghosts.iter().all(|ghost| !with_values.contains(ghost))
            });
            if !is_structural {
                let constructor = self.name(self.constructor(case.constructor).name).to_owned();
                let application = self.display(term).to_string();
                return Err(FoldError::NotStructural { function: name(fun), constructor, application });
            }
        }
        Ok(())
    }

    /// Checks F5 and the second half of F3, and notes whether calls change ghosts.
    fn check_ghosts(&self, folds: &mut [Fold], family: &[Fun]) -> Result<(), FoldError> {
        let name = |fold: &Fold| self.name(self.fun_decl(fold.fun).name).to_owned();
        let (mut changes, mut most_calls, mut grows) = (false, 0, false);
        for fold in &*folds {
            for case in &fold.cases {
                let is_call = |&term: &Term| matches!(self.op(term), Op::Apply(fun) if family.contains(&fun));
                let calls: Vec<Term> = self.subterms(&[case.value]).into_iter().filter(is_call).collect();
                most_calls = most_calls.max(calls.len());
                for call in calls {
                    let ghosts = &self.args(call)[1..];
                    if *ghosts == *fold.ghosts {
                        continue;
                    }
                    changes = true;
                    if self.subterms(ghosts).into_iter().any(|term| self.is_product(term)) {
                        return Err(FoldError::Product(name(fold)));
                    }
                    grows |= ghosts.iter().any(|&ghost| !self.is_part(ghost));
                }
            }
        }
        match folds.first() {
            Some(first) if grows && most_calls > 1 => return Err(FoldError::Growing(name(first))),
            _ => {}
        }
        folds.iter_mut().for_each(|fold| fold.changes_ghosts = changes);
        Ok(())
    }

    /// Whether a term multiplies terms that are not constant.
    fn is_product(&self, term: Term) -> bool {
        let is_constant = |&factor: &Term| self.free_vars(&[factor]).is_empty();
        self.op(term) == Op::Mul && self.args(term).iter().filter(|factor| !is_constant(factor)).count() > 1
    }

    /// Whether the value of a term is that of a part of a variable, or constant.
    fn is_part(&self, term: Term) -> bool {
        let mut open = vec![term];
        while let Some(term) = open.pop() {
            match self.view(term) {
                (Op::Var(_), _) => {}
                (Op::Selector { .. }, args) => open.extend(args),
                (Op::Ite, &[_, yes, no]) => open.extend([yes, no]),
                _ if self.free_vars(&[term]).is_empty() => {}
                _ => return false,
            }
        }
        true
    }

    /// The cases with functions of the family named by their positions (F4).
    fn family_key(&self, folds: &[Fold], family: &[Fun]) -> FamilyKey {
        let by_position = |fun: Fun| {
            let position = family.iter().position(|&member| member == fun)?;
            let declaration = self.fun_decl(fun);
            Some(self.fun(self.symbol(&format!(".fold{position}")), &declaration.domain, declaration.range))
        };
        let anonymous = |case: &FoldCase| {
            self.rewrite(case.value, &mut |op, args| match op {
                Op::Apply(fun) => {
                    self.apply(by_position(fun).unwrap_or(fun), args).expect("the sorts are the same")
                }
                _ => self.build_sorted(op, args),
            })
        };
        let member = |fold: &Fold| {
            let declaration = self.fun_decl(fold.fun);
            (declaration.domain.clone(), declaration.range, fold.cases.iter().map(anonymous).collect())
        };
        folds.iter().map(member).collect()
    }
}
