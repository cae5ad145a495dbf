//! Reads definitions of recursive functions, which must be [folds](crate::Fold).
//!
//! ```text
//! (define-fun-rec len ((l list)) Int (match l ((nil 0) ((cons h t) (+ 1 (len t))))))
//! (define-funs-rec ((even ((n nat)) Bool) (odd ((n nat)) Bool)) (... ...))
//! ```
//!
//! The first parameter is the value of a datatype on which the functions recur. Testers and selectors may stand for `match`: the
//! definition is specialised to each constructor, and only the results matter.

use super::environment::{Meaning, Name};
use super::lexer::{Lexer, Short, SyntaxError, Token};
use super::reader::{Reader, Result};
use crate::fold::FoldSpec;
use crate::op::Op;
use crate::sort::{Fun, Sort};

/// A function to be defined.
struct Signature<'t> {
    name: Name,
    fun: Fun,
    range: Sort,
    /// The position of the name, for messages.
    offset: usize,
    /// The text from the parameters on. They are read again before the definition, to bind them.
    parameters: Lexer<'t>,
}

impl<'t> Reader<'_, 't> {
    /// Reads the rest of `(define-fun-rec f ((x D)) T t)`. From now on the name means the fold.
    pub fn define_fold(&mut self) -> Result<()> {
        self.with_names(|reader| {
            let signature = reader.signature(&[])?;
            let spec = reader.fold(&signature)?;
            reader.close()?;
            Ok((vec![signature], vec![spec]))
        })
    }

    /// Reads the rest of `(define-funs-rec ((f ((x D)) T) ...) (t ...))`. From now on the names mean the folds.
    pub fn define_folds(&mut self) -> Result<()> {
        self.with_names(|reader| {
            reader.expect_open()?;
            let mut signatures: Vec<Signature<'t>> = Vec::new();
            loop {
                match reader.lexer.next_token()? {
                    Token::Close => break,
                    Token::Open => {
                        let signature = reader.signature(&signatures)?;
                        reader.close()?;
                        signatures.push(signature);
                    }
                    token => return Err(reader.expected("a function or `)`", token)),
                }
            }
            reader.expect_open()?;
            let specs = signatures.iter().map(|signature| reader.fold(signature));
            let specs = specs.collect::<Result<Vec<FoldSpec>>>()?;
            reader.close()?;
            reader.close()?;
            Ok((signatures, specs))
        })
    }

    /// Defines the functions that `read` returns. Inside of it, names may mean functions without definition.
    fn with_names(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<(Vec<Signature<'t>>, Vec<FoldSpec>)>,
    ) -> Result<()> {
        let offset = self.offset();
        let scope = self.environment.enter();
        let family = read(self);
        self.environment.leave(scope);
        let (signatures, specs) = family?;
        let offset = signatures.first().map_or(offset, |signature| signature.offset);
        let defined = self.store.define_folds(&specs);
        let defined = defined.map_err(|error| SyntaxError::new(offset, error.to_string()))?;
        for (signature, &fun) in signatures.iter().zip(&defined) {
            self.environment.declare(signature.name, Meaning::Op(Op::Apply(fun)));
        }
        Ok(())
    }

    /// Reads `f ((x D)) T`, and gives the name its meaning in the current scope.
    fn signature(&mut self, others: &[Signature<'_>]) -> Result<Signature<'t>> {
        let text = self.symbol()?;
        let offset = self.offset();
        let name = self.environment.name(self.store, text);
        if !self.environment.is_free(name) || others.iter().any(|other| other.name == name) {
            return Err(SyntaxError::new(offset, format!("`{}` is defined already", Short(text))));
        }
        let parameters = self.lexer.clone();
        let sorts = self.in_scope(|reader| {
            let parameters = reader.sorted_variables()?;
            Ok(parameters.iter().map(|&parameter| reader.store.sort_of(parameter)).collect::<Vec<Sort>>())
        })?;
        let range = self.sort()?;
        let (datatype, ghosts) = match sorts.split_first() {
            Some((&first, ghosts)) if self.store.datatype(first).is_some() => (first, ghosts),
            _ => {
                let message = format!(
                    "the first parameter of the recursive function `{}` must be of a datatype",
                    Short(text)
                );
                return Err(SyntaxError::new(offset, message));
            }
        };
        let fun = self.store.new_fold(self.environment.symbol(name), datatype, ghosts, range);
        self.environment.bind(name, Meaning::Op(Op::Apply(fun)));
        Ok(Signature { name, fun, range, offset, parameters })
    }

    /// Reads the definition of a function.
    fn fold(&mut self, signature: &Signature<'t>) -> Result<FoldSpec> {
        self.in_scope(|reader| {
            let definition = std::mem::replace(&mut reader.lexer, signature.parameters.clone());
            let parameters = reader.sorted_variables()?;
            reader.lexer = definition;
            let body = reader.term()?;
            let body = reader.coerce(body, signature.range);
            let store = reader.store;
            if store.sort_of(body) != signature.range {
                let (found, range) =
                    (store.display_sort(store.sort_of(body)), store.display_sort(signature.range));
                let message = format!("the definition has sort {found}, but {range} is declared");
                return Err(SyntaxError::new(reader.offset(), message));
            }
            let cases = store.fold_cases(parameters[0], body);
            Ok(FoldSpec { fun: signature.fun, ghosts: parameters[1..].to_vec(), cases })
        })
    }

    /// Reads with variables that are released at the end.
    fn in_scope<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let scope = self.environment.enter();
        let binders = self.binders();
        let result = read(self);
        self.environment.leave(scope);
        self.unbind(binders);
        result
    }
}
