//! Which engines run on which clauses when none are asked for.

use shofar_engines::{Bmc, Engine, Imc, KInduction, Lawi, PdKind, Spacer, Tpa};
use shofar_horn::HornGraph;

/// The engines for a graph for which none are asked, the most promising first. Where there are fewer cores than engines,
/// the first ones have cores of their own, and the others take turns.
pub fn schedule(graph: &HornGraph) -> Vec<Box<dyn Engine>> {
    if !graph.is_linear() {
        return vec![Box::new(Spacer::default()), Box::new(Bmc)];
    }
    vec![
        Box::new(Spacer::default()),
        Box::new(PdKind::default()),
        Box::new(KInduction::default()),
        Box::new(Imc::default()),
        Box::new(Tpa::split()),
        Box::new(Lawi::default()),
        Box::new(Bmc),
    ]
}
