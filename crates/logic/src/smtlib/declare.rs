//! Reads sorts, and the commands that declare and define names.
//!
//! `declare-datatypes` is supported in both of its syntaxes: that of SMT-LIB 2.6, which lists the sorts with their
//! numbers of parameters first, and the older one of Z3, which lists the parameters first. Files printed by a program
//! may mention a datatype before the command that declares it; if only commands that declare datatypes come in between,
//! all of them are one declaration.

use rustc_hash::FxHashMap;
use shofar_run::did_you_mean;

use super::environment::{Meaning, Name, SortMeaning, named_sorts};
use super::lexer::{Short, SyntaxError, Token};
use super::logic::Theories;
use super::reader::Reader;
use crate::op::Op;
use crate::sort::{ConstructorSpec, Fun, Sort, SortKind, Symbol};
use crate::term::Term;

/// The greatest size of a sort, written out. Those of programs have a handful of parts. The limit allows recursion over
/// sorts, and prevents definitions from doubling them without end.
const LARGEST_SORT: usize = 1000;

/// The declaration of a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Declaration {
    /// An uninterpreted function or constant.
    Fun(Fun),
    /// A group of datatypes; parametric ones represent all their instances.
    Datatypes(Box<[Sort]>),
    /// An uninterpreted sort, with its number of parameters.
    Sort(Symbol, usize),
    /// A name for a term or a sort, which the reader expands.
    Definition,
}

type Result<T> = std::result::Result<T, SyntaxError>;

impl<'t> Reader<'_, 't> {
    /// Reads the rest of a declaring or defining command. Returns `None`, and reads nothing, for other commands.
    pub fn declaration(&mut self, command: &str) -> Result<Option<Declaration>> {
        let result = self.read_declaration(command);
        match result {
            Ok(_) => self.sort_trail.clear(),
            Err(_) => {
                self.leave_sorts(0);
                self.forget_postponed();
            }
        }
        self.in_datatypes = false;
        result
    }

    fn read_declaration(&mut self, command: &str) -> Result<Option<Declaration>> {
        let declaration = match command {
            "declare-fun" => self.declare_fun(true)?,
            "declare-const" => self.declare_fun(false)?,
            "declare-sort" => self.declare_sort()?,
            "define-sort" => self.define_sort()?,
            "define-fun" => self.define_fun(true)?,
            "define-const" => self.define_fun(false)?,
            "declare-datatype" => self.declare_datatype()?,
            "declare-datatypes" => self.declare_datatypes()?,
            "define-fun-rec" | "define-funs-rec" => {
                let message = "recursive definitions are not supported: write them as clauses";
                return Err(SyntaxError::new(self.offset(), message));
            }
            _ => return Ok(None),
        };
        Ok(Some(declaration))
    }

    // ---- sorts -------------------------------------------------------------------------------------------

    /// Reads a sort.
    pub fn sort(&mut self) -> Result<Sort> {
        let token = self.lexer.next_token()?;
        self.sort_at(token, 0)
    }

    fn sort_at(&mut self, token: Token<'t>, depth: usize) -> Result<Sort> {
        let offset = self.offset();
        if depth > LARGEST_SORT {
            return Err(SyntaxError::new(offset, "the sort is too large"));
        }
        match token {
            Token::Symbol(text) | Token::Quoted(text) => self.applied_sort(text, &[], offset),
            Token::Open => match self.lexer.next_token()? {
                Token::Symbol("_") => {
                    match self.symbol()? {
                        "BitVec" => self.require_theory(Theories::BIT_VECTORS)?,
                        other => {
                            let message = format!("unknown indexed sort `{}`", Short(other));
                            return Err(SyntaxError::new(self.offset(), message));
                        }
                    }
                    let width = self.width()?;
                    self.close()?;
                    Ok(self.store.bitvec_sort(width))
                }
                Token::Symbol(text) | Token::Quoted(text) => {
                    let params = self.sorts_to_close(depth + 1)?;
                    self.applied_sort(text, &params, offset)
                }
                token => Err(self.expected("a sort", token)),
            },
            token => Err(self.expected("a sort", token)),
        }
    }

    /// Reads `(S T ...)`.
    fn sorts(&mut self) -> Result<Vec<Sort>> {
        self.expect_open()?;
        self.sorts_to_close(0)
    }

    fn sorts_to_close(&mut self, depth: usize) -> Result<Vec<Sort>> {
        let mut sorts = Vec::new();
        loop {
            match self.lexer.next_token()? {
                Token::Close => return Ok(sorts),
                token => sorts.push(self.sort_at(token, depth)?),
            }
        }
    }

    fn applied_sort(&mut self, text: &str, params: &[Sort], offset: usize) -> Result<Sort> {
        let name = self.environment.name(self.store, text);
        let wrong_number = |expected: usize| {
            let found = params.len();
            let message = format!("the sort `{}` takes {expected} parameters, but has {found}", Short(text));
            SyntaxError::new(offset, message)
        };
        let sort = match (self.environment.sort_meaning(name), params) {
            (SortMeaning::Sort(sort), []) => sort,
            (SortMeaning::Sort(_), _) => return Err(wrong_number(0)),
            (SortMeaning::Array, &[index, element]) => self.store.array_sort(index, element),
            (SortMeaning::Array, _) => return Err(wrong_number(2)),
            (SortMeaning::Uninterpreted(arity), _) if arity != params.len() => {
                return Err(wrong_number(arity));
            }
            (SortMeaning::Uninterpreted(_), _) => {
                let kind = SortKind::Uninterpreted(self.environment.symbol(name), params.into());
                self.store.sort(kind)
            }
            (SortMeaning::Template(template), _) => {
                let datatype = self.store.datatype(template).expect("templates are datatypes");
                if datatype.params.len() != params.len() {
                    return Err(wrong_number(datatype.params.len()));
                }
                if *datatype.params == *params {
                    template
                } else if datatype.constructors().is_empty() {
                    let message =
                        "a datatype can be used in its own declaration with its own parameters only";
                    return Err(SyntaxError::new(offset, message));
                } else {
                    self.instance(template, params)
                }
            }
            (SortMeaning::Macro(index), _) => {
                let definition = self.environment.get_sort_macro(index);
                if definition.parameters.len() != params.len() {
                    return Err(wrong_number(definition.parameters.len()));
                }
                let pairs = definition.parameters.iter().copied().zip(params.iter().copied());
                let map: FxHashMap<Sort, Sort> = pairs.collect();
                self.store.substitute_sort(definition.body, &map)
            }
            (SortMeaning::Undeclared, []) if self.in_datatypes => {
                let sort = self.store.new_datatype(self.environment.symbol(name), &[]);
                self.environment.set_sort(name, SortMeaning::Sort(sort));
                self.environment.postponed.missing.push((name, sort, offset));
                sort
            }
            (SortMeaning::Undeclared, &[element]) if text == "List" => {
                let template = self.declare_lists(name);
                self.instance(template, &[element])
            }
            (SortMeaning::Undeclared, _) => {
                if named_sorts().iter().any(|&(name, ..)| name == text) {
                    return Err(SyntaxError::new(offset, format!("the logic has no sort `{text}`")));
                }
                let message = format!("undeclared sort `{}`", Short(text));
                if matches!(text, "String" | "RegLan" | "FloatingPoint" | "RoundingMode" | "Seq") {
                    let message = format!("{message} (this theory is not supported)");
                    return Err(SyntaxError::new(offset, message));
                }
                let hint = self.environment.nearest_sort(self.store, text).map(did_you_mean);
                return Err(SyntaxError::new(offset, message).with_hint(hint));
            }
        };
        if self.store.sort_size(sort) > LARGEST_SORT {
            return Err(SyntaxError::new(offset, "the sort is too large"));
        }
        Ok(sort)
    }

    fn instance(&mut self, template: Sort, params: &[Sort]) -> Sort {
        let instance = self.store.instantiate_datatype(template, params);
        self.environment.add_instance(template, instance);
        instance
    }

    fn declare_sort(&mut self) -> Result<Declaration> {
        let name = self.new_sort_name()?;
        // Older scripts may omit the number of parameters.
        let arity = match self.lexer.next_token()? {
            Token::Close => 0,
            Token::Numeral(digits) => {
                let arity = digits.parse().ok().filter(|arity| *arity <= LARGEST_SORT);
                let too_many = || SyntaxError::new(self.offset(), "too many parameters");
                let arity = arity.ok_or_else(too_many)?;
                self.close()?;
                arity
            }
            token => return Err(self.expected("the number of parameters", token)),
        };
        let symbol = self.environment.symbol(name);
        let meaning = match arity {
            0 => SortMeaning::Sort(self.store.sort(SortKind::Uninterpreted(symbol, [].into()))),
            _ => SortMeaning::Uninterpreted(arity),
        };
        self.environment.set_sort(name, meaning);
        Ok(Declaration::Sort(symbol, arity))
    }

    fn define_sort(&mut self) -> Result<Declaration> {
        let name = self.new_sort_name()?;
        self.expect_open()?;
        let parameters = self.symbols_to_close()?;
        let parameters = self.bind_sort_parameters(&parameters);
        let body = self.sort()?;
        self.close()?;
        self.leave_sorts(0);
        let meaning = match &*parameters {
            [] => SortMeaning::Sort(body),
            _ => self.environment.add_sort_macro(parameters, body),
        };
        self.environment.set_sort(name, meaning);
        Ok(Declaration::Definition)
    }

    /// Binds names to sorts that represent them, and returns these.
    fn bind_sort_parameters(&mut self, names: &[Name]) -> Box<[Sort]> {
        let sorts = names.iter().map(|&name| {
            let sort = self.store.sort(SortKind::Uninterpreted(self.environment.symbol(name), [].into()));
            self.bind_sort(name, SortMeaning::Sort(sort));
            sort
        });
        sorts.collect()
    }

    /// Binds a name as a sort until [`leave_sorts`](Self::leave_sorts).
    fn bind_sort(&mut self, name: Name, meaning: SortMeaning) {
        self.sort_trail.push((name, self.environment.sort_meaning(name)));
        self.environment.set_sort(name, meaning);
    }

    fn leave_sorts(&mut self, scope: usize) {
        for (name, meaning) in self.sort_trail.drain(scope..).rev() {
            self.environment.set_sort(name, meaning);
        }
    }

    // ---- functions ---------------------------------------------------------------------------------------

    fn declare_fun(&mut self, has_domain: bool) -> Result<Declaration> {
        let name = self.new_name()?;
        let domain = if has_domain { self.sorts()? } else { Vec::new() };
        let range = self.sort()?;
        self.close()?;
        Ok(Declaration::Fun(self.declare(name, &domain, range)))
    }

    fn declare(&mut self, name: Name, domain: &[Sort], range: Sort) -> Fun {
        let fun = self.store.fun(self.environment.symbol(name), domain, range);
        self.environment.declare(name, Meaning::Op(Op::Apply(fun)));
        fun
    }

    /// Reads `P (S T))` as in Z3's `declare-rel`: a predicate.
    pub fn declare_relation(&mut self) -> Result<Fun> {
        let name = self.new_name()?;
        let domain = self.sorts()?;
        // The rest names a representation for Z3's Datalog engine.
        self.skip_rest()?;
        Ok(self.declare(name, &domain, Sort::BOOL))
    }

    /// Reads `x S)` as in Z3's `declare-var`: a variable for all later rules. It may be declared again.
    pub fn declare_variable(&mut self) -> Result<Term> {
        let text = self.symbol()?;
        let offset = self.offset();
        let name = self.environment.name(self.store, text);
        if !self.environment.is_free(name) && !matches!(self.environment.declared(name), Meaning::Term(_)) {
            return Err(self.taken(name, text, offset));
        }
        let sort = self.sort()?;
        self.close()?;
        // In print, a variable with the name of an operator could not be distinguished from it.
        let mut real = name;
        let mut suffix = 0;
        while self.environment.builtin(real).is_some()
            || real != name && self.environment.meaning(real) != Meaning::Undeclared
        {
            suffix += 1;
            real = self.environment.name(self.store, &format!("{text}!{suffix}"));
        }
        let variable = self.store.var(self.environment.symbol(real), sort);
        self.environment.declare(name, Meaning::Term(variable));
        Ok(variable)
    }

    fn define_fun(&mut self, has_parameters: bool) -> Result<Declaration> {
        let name = self.new_name()?;
        let (parameters, body) = self.scoped_definition(has_parameters)?;
        self.define(name, parameters, body);
        Ok(Declaration::Definition)
    }

    /// Reads the rest of `(define-fun f ((x S)) T t)`, where the name may be that of a declared function, and returns
    /// name, parameters and body. From now on the name has this definition.
    pub fn interpretation(&mut self) -> Result<(Symbol, Box<[Term]>, Term)> {
        let text = self.symbol()?;
        let name = self.environment.name(self.store, text);
        if !self.environment.is_free(name)
            && !matches!(self.environment.declared(name), Meaning::Op(Op::Apply(_)))
        {
            return Err(SyntaxError::new(self.offset(), format!("`{}` is defined already", Short(text))));
        }
        let (parameters, body) = self.scoped_definition(true)?;
        self.define(name, parameters.clone(), body);
        Ok((self.environment.symbol(name), parameters, body))
    }

    fn scoped_definition(&mut self, has_parameters: bool) -> Result<(Box<[Term]>, Term)> {
        let scope = self.environment.enter();
        let binders = self.binders();
        let definition = self.definition(has_parameters);
        self.environment.leave(scope);
        self.unbind(binders);
        definition
    }

    fn define(&mut self, name: Name, parameters: Box<[Term]>, body: Term) {
        let meaning = match &*parameters {
            [] => Meaning::Term(body),
            _ => self.environment.add_macro(parameters, body),
        };
        self.environment.declare(name, meaning);
    }

    fn definition(&mut self, has_parameters: bool) -> Result<(Box<[Term]>, Term)> {
        let parameters = if has_parameters { self.sorted_variables()? } else { Vec::new() };
        let sort = self.sort()?;
        let body = self.term()?;
        let offset = self.offset();
        let body = self.coerce(body, sort);
        self.close()?;
        let found = self.store.sort_of(body);
        if found == sort {
            return Ok((parameters.into(), body));
        }
        let (found, sort) = (self.store.display_sort(found), self.store.display_sort(sort));
        Err(SyntaxError::new(offset, format!("the definition has sort {found}, but {sort} is declared")))
    }

    // ---- datatypes ---------------------------------------------------------------------------------------

    /// `declare-datatype D (...)`, where the constructors may be inside `par`.
    fn declare_datatype(&mut self) -> Result<Declaration> {
        let name = self.new_sort_name()?;
        self.expect_open()?;
        let (parameters, first) = self.par()?;
        let mut group = Group::new(&[name]);
        self.declare_members(&mut group, parameters.as_deref().unwrap_or_default())?;
        let constructors = self.constructors(first)?;
        group.constructors.push(constructors);
        if parameters.is_some() {
            self.close()?;
        }
        self.finish_group(group)
    }

    fn declare_datatypes(&mut self) -> Result<Declaration> {
        self.expect_open()?;
        match self.lexer.next_token()? {
            // `((D 0) ...) (...)`
            Token::Open => {
                let mut members = Vec::new();
                let mut arities = Vec::new();
                loop {
                    members.push(self.new_sort_name()?);
                    arities.push(self.index()? as usize);
                    self.close()?;
                    match self.lexer.next_token()? {
                        Token::Open => {}
                        Token::Close => break,
                        token => return Err(self.expected("a datatype or `)`", token)),
                    }
                }
                self.declare_datatypes_standard(&members, &arities)
            }
            // `(T ...) ((D (nil) (cons ...)) ...)`
            mut token => {
                let mut parameters = Vec::new();
                loop {
                    match token {
                        Token::Close => break,
                        Token::Symbol(text) | Token::Quoted(text) => {
                            parameters.push(self.environment.name(self.store, text));
                        }
                        token => return Err(self.expected("a parameter or `)`", token)),
                    }
                    token = self.lexer.next_token()?;
                }
                self.declare_datatypes_old(&parameters)
            }
        }
    }

    fn declare_datatypes_standard(&mut self, members: &[Name], arities: &[usize]) -> Result<Declaration> {
        let mut group = Group::new(members);
        let parametric = arities.iter().any(|arity| *arity > 0);
        // Without parameters all members are known to each other at once. With them, each member names the parameters;
        // they must be the same for the whole group.
        if !parametric {
            self.declare_members(&mut group, &[])?;
        }
        self.expect_open()?;
        for &arity in arities {
            self.expect_open()?;
            let (par, first) = self.par()?;
            let parameters = par.as_deref().unwrap_or_default();
            if parameters.len() != arity {
                let message = format!("expected {arity} parameters, found {}", parameters.len());
                return Err(SyntaxError::new(self.offset(), message));
            }
            if group.sorts.is_empty() {
                self.declare_members(&mut group, parameters)?;
            } else if parametric && group.parameters != parameters {
                let message = "datatypes declared together must have the same parameters";
                return Err(SyntaxError::new(self.offset(), message));
            }
            let constructors = self.constructors(first)?;
            group.constructors.push(constructors);
            if par.is_some() {
                self.close()?;
            }
        }
        self.close()?;
        self.finish_group(group)
    }

    fn declare_datatypes_old(&mut self, parameters: &[Name]) -> Result<Declaration> {
        self.expect_open()?;
        // All member names are needed before the first constructor is read.
        let rest = self.lexer.clone();
        let mut members = Vec::new();
        loop {
            match self.lexer.next_token()? {
                Token::Open => {
                    members.push(self.new_sort_name()?);
                    self.skip_rest()?;
                }
                Token::Close => break,
                token => return Err(self.expected("a datatype or `)`", token)),
            }
        }
        self.lexer = rest;
        let mut group = Group::new(&members);
        self.declare_members(&mut group, parameters)?;
        for _ in &members {
            self.expect_open()?;
            self.symbol()?;
            let first = self.lexer.next_token()?;
            let constructors = self.constructors(first)?;
            group.constructors.push(constructors);
        }
        self.close()?;
        self.finish_group(group)
    }

    /// After the `(` of a datatype's constructors: reads `par (T ...) (` if present, and in any case the next token.
    fn par(&mut self) -> Result<(Option<Vec<Name>>, Token<'t>)> {
        match self.lexer.next_token()? {
            Token::Symbol("par") => {
                self.expect_open()?;
                let parameters = self.symbols_to_close()?;
                self.expect_open()?;
                Ok((Some(parameters), self.lexer.next_token()?))
            }
            token => Ok((None, token)),
        }
    }

    fn declare_members(&mut self, group: &mut Group, parameters: &[Name]) -> Result<()> {
        group.parameters = parameters.to_vec();
        self.in_datatypes = true;
        let params = self.bind_sort_parameters(parameters);
        for &name in &group.names {
            let awaited = self.environment.postponed.missing.iter().find(|(missing, ..)| *missing == name);
            let sort = match awaited {
                Some(_) if !params.is_empty() => {
                    let message = "a parametric datatype is used before its declaration";
                    return Err(SyntaxError::new(self.offset(), message));
                }
                Some(&(_, sort, _)) => sort,
                None => self.store.new_datatype(self.environment.symbol(name), &params),
            };
            group.sorts.push(sort);
            let meaning =
                if params.is_empty() { SortMeaning::Sort(sort) } else { SortMeaning::Template(sort) };
            self.bind_sort(name, meaning);
        }
        Ok(())
    }

    /// Reads constructors up to `)`, from the token after `(` on.
    fn constructors(&mut self, mut token: Token<'t>) -> Result<Vec<ConstructorSpec>> {
        let mut constructors = Vec::new();
        loop {
            let (text, has_fields) = match token {
                Token::Close => return Ok(constructors),
                Token::Open => (self.symbol()?, true),
                Token::Symbol(text) | Token::Quoted(text) => (text, false),
                token => return Err(self.expected("a constructor or `)`", token)),
            };
            let name = self.store.symbol(text);
            let fields = if has_fields { self.fields()? } else { Vec::new() };
            constructors.push(ConstructorSpec { name, fields });
            token = self.lexer.next_token()?;
        }
    }

    /// Reads `(selector S) ...` up to `)`.
    fn fields(&mut self) -> Result<Vec<(Symbol, Sort)>> {
        let mut fields = Vec::new();
        loop {
            match self.lexer.next_token()? {
                Token::Close => return Ok(fields),
                Token::Open => {
                    let selector = self.symbol()?;
                    let selector = self.store.symbol(selector);
                    fields.push((selector, self.sort()?));
                    self.close()?;
                }
                token => return Err(self.expected("a field or `)`", token)),
            }
        }
    }

    fn finish_group(&mut self, group: Group) -> Result<Declaration> {
        let offset = self.offset();
        self.close()?;
        self.leave_sorts(0);
        let parametric = !group.parameters.is_empty();
        for ((&name, &sort), constructors) in group.names.iter().zip(&group.sorts).zip(group.constructors) {
            let meaning = if parametric { SortMeaning::Template(sort) } else { SortMeaning::Sort(sort) };
            self.environment.set_sort(name, meaning);
            self.environment.postponed.missing.retain(|(missing, ..)| *missing != name);
            self.environment.postponed.members.push((name, sort, constructors));
        }
        if !self.environment.postponed.missing.is_empty() {
            return Ok(Declaration::Definition);
        }
        let members = std::mem::take(&mut self.environment.postponed.members);
        let names: Vec<Name> = members.iter().map(|(name, ..)| *name).collect();
        let group: Vec<_> = members.into_iter().map(|(_, sort, constructors)| (sort, constructors)).collect();
        let sorts = self.store.define_datatypes(&group);
        let sorts = sorts.map_err(|error| SyntaxError::new(offset, error.to_string()))?;
        for (&name, &sort) in names.iter().zip(&sorts) {
            let datatype = self.store.datatype(sort).expect("the sort has just been defined as a datatype");
            let parametric = !datatype.params.is_empty();
            let meaning = if parametric { SortMeaning::Template(sort) } else { SortMeaning::Sort(sort) };
            self.environment.set_sort(name, meaning);
            self.name_constructors(sort, parametric, offset)?;
        }
        Ok(Declaration::Datatypes(sorts))
    }

    /// Declares Z3's lists, which scripts use without declaring them.
    fn declare_lists(&mut self, name: Name) -> Sort {
        let list = self.lists();
        self.environment.set_sort(name, SortMeaning::Template(list));
        self.name_lists(list);
        self.implicit.push(Declaration::Datatypes([list].into()));
        list
    }

    /// Z3's parametric datatype of lists.
    fn lists(&self) -> Sort {
        let store = self.store;
        let element = store.sort(SortKind::Uninterpreted(store.symbol("T"), [].into()));
        let list = store.new_datatype(store.symbol("List"), &[element]);
        let nil = ConstructorSpec { name: store.symbol("nil"), fields: Vec::new() };
        let fields = vec![(store.symbol("head"), element), (store.symbol("tail"), list)];
        let insert = ConstructorSpec { name: store.symbol("insert"), fields };
        store.define_datatypes(&[(list, vec![nil, insert])]).expect("there is an empty list")[0]
    }

    /// Sets the meanings of the names of Z3's lists, which the script may overload.
    fn name_lists(&mut self, list: Sort) {
        let store = self.store;
        for &id in store.datatype(list).expect("lists are a datatype").constructors() {
            let constructor = store.constructor(id);
            let text = store.name(constructor.name);
            self.environment.set_builtin(store, text, Meaning::AnyConstructor(id));
            self.environment.set_builtin(store, &format!("is-{text}"), Meaning::Tester(id));
            for (field, &(selector, _)) in constructor.fields.iter().enumerate() {
                let meaning = Meaning::AnySelector(id, field as u32);
                self.environment.set_builtin(store, store.name(selector), meaning);
            }
        }
    }

    /// Reports a datatype that was mentioned but never declared.
    pub(super) fn require_all_datatypes(&mut self) -> Result<()> {
        let Some(&(name, _, offset)) = self.environment.postponed.missing.first() else { return Ok(()) };
        self.forget_postponed();
        let name = self.store.name(self.environment.symbol(name));
        let hint = self.environment.nearest_sort(self.store, name).map(did_you_mean);
        Err(SyntaxError::new(offset, format!("undeclared sort `{}`", Short(name))).with_hint(hint))
    }

    fn forget_postponed(&mut self) {
        let postponed = std::mem::take(&mut self.environment.postponed);
        let names = postponed.members.iter().map(|(name, ..)| *name);
        for name in names.chain(postponed.missing.iter().map(|(name, ..)| *name)) {
            self.environment.set_sort(name, SortMeaning::Undeclared);
        }
    }

    fn name_constructors(&mut self, sort: Sort, parametric: bool, offset: usize) -> Result<()> {
        let datatype = self.store.datatype(sort).expect("the sort has just been defined as a datatype");
        // Scripts printed by this crate declare Z3's lists.
        if parametric && self.store.name(datatype.name) == "List" && sort == self.lists() {
            self.name_lists(sort);
            return Ok(());
        }
        for &id in datatype.constructors() {
            let constructor = self.store.constructor(id);
            let text = self.store.name(constructor.name);
            let construct =
                if parametric { Meaning::AnyConstructor(id) } else { Meaning::Op(Op::Construct(id)) };
            self.define_name(text, construct, offset)?;
            for (field, &(selector, _)) in constructor.fields.iter().enumerate() {
                let field = field as u32;
                let select = if parametric {
                    Meaning::AnySelector(id, field)
                } else {
                    Meaning::Op(Op::Selector { constructor: id, field })
                };
                self.define_name(self.store.name(selector), select, offset)?;
            }
            // Scripts from before SMT-LIB 2.6 write `(is-cons x)`.
            let tester = self.environment.name(self.store, &format!("is-{text}"));
            if self.environment.meaning(tester) == Meaning::Undeclared {
                let test = if parametric { Meaning::Tester(id) } else { Meaning::Op(Op::Tester(id)) };
                self.environment.set_meaning(tester, test);
            }
        }
        Ok(())
    }

    // ---- names -------------------------------------------------------------------------------------------

    /// Reads an opening parenthesis.
    pub fn expect_open(&mut self) -> Result<()> {
        match self.lexer.next_token()? {
            Token::Open => Ok(()),
            token => Err(self.expected("`(`", token)),
        }
    }

    fn symbols_to_close(&mut self) -> Result<Vec<Name>> {
        let mut names = Vec::new();
        loop {
            match self.lexer.next_token()? {
                Token::Close => return Ok(names),
                Token::Symbol(text) | Token::Quoted(text) => {
                    names.push(self.environment.name(self.store, text));
                }
                token => return Err(self.expected("a symbol or `)`", token)),
            }
        }
    }

    /// Reads the name of a function to be declared.
    fn new_name(&mut self) -> Result<Name> {
        let text = self.symbol()?;
        let name = self.environment.name(self.store, text);
        if self.environment.is_free(name) { Ok(name) } else { Err(self.taken(name, text, self.offset())) }
    }

    /// The error for declaring a name that already has a meaning.
    fn taken(&self, name: Name, text: &str, offset: usize) -> SyntaxError {
        let message = match self.environment.meaning(name) {
            Meaning::Op(op) if op.name() == Some(text) && Theories::CORE.have(op) => {
                format!("`{}` is reserved: it is a symbol of SMT-LIB's core theory", Short(text))
            }
            _ => format!("`{}` is declared already", Short(text)),
        };
        SyntaxError::new(offset, message)
    }

    fn define_name(&mut self, text: &str, meaning: Meaning, offset: usize) -> Result<()> {
        let name = self.environment.name(self.store, text);
        if !self.environment.is_free(name) {
            return Err(self.taken(name, text, offset));
        }
        self.environment.declare(name, meaning);
        Ok(())
    }

    fn new_sort_name(&mut self) -> Result<Name> {
        let text = self.symbol()?;
        let name = self.environment.name(self.store, text);
        let awaited = self.environment.postponed.missing.iter().any(|(missing, ..)| *missing == name);
        match self.environment.sort_meaning(name) {
            SortMeaning::Undeclared => Ok(name),
            _ if awaited => Ok(name),
            _ => Err(SyntaxError::new(self.offset(), format!("sort `{}` is declared already", Short(text)))),
        }
    }
}

/// Datatypes being declared.
struct Group {
    names: Vec<Name>,
    parameters: Vec<Name>,
    sorts: Vec<Sort>,
    constructors: Vec<Vec<ConstructorSpec>>,
}

impl Group {
    fn new(names: &[Name]) -> Self {
        Group { names: names.to_vec(), parameters: Vec::new(), sorts: Vec::new(), constructors: Vec::new() }
    }
}
