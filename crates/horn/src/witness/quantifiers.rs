//! Models without quantifiers, for the checker: by elimination, where the theory has it.

use shofar_run::Stop;

use super::{Definition, Interpretation, Model};
use crate::Context;
use crate::quantifiers::without_quantifiers;

impl Model {
    /// An equivalent model without quantifiers. Fails where they cannot be eliminated.
    pub fn without_quantifiers(self, context: &Context<'_>) -> Result<Model, Stop> {
        let definition = |definition: Definition| {
            let Interpretation::Formula(formula) = definition.interpretation;
            let formula = without_quantifiers(context, formula)?;
            Ok(Definition { interpretation: formula.into(), ..definition })
        };
        let definitions = self.definitions.into_iter().map(definition);
        Ok(Model { definitions: definitions.collect::<Result<_, Stop>>()? })
    }
}
