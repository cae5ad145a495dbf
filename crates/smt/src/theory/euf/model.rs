//! The model of a state without conflict.
//!
//! The classes are the elements, and a function maps classes to classes as its applications do; by I2 no two of them
//! disagree. Elsewhere a function is unconstrained, and a caller that needs a total function adds a default. Different
//! classes are different elements, so all disequalities hold. (Classes that are not known to be apart may also be
//! merged into one element, if other theories or finite sorts need it.)

use super::{EGraph, Node, Symbol};

/// A partial interpretation of the functions over the classes, numbered from zero.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClassModel {
    /// For each node the number of its class.
    pub class_of: Vec<u32>,
    /// For each class its first member, in the order of creation.
    pub first: Vec<Node>,
    /// For each class its value, if it has one.
    pub values: Vec<Option<Node>>,
    /// The function tables, ordered by symbol and for each symbol by creation. Values have no rows; other constants
    /// have one without arguments.
    pub rows: Vec<Row>,
}

/// A function applied to classes gives a class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// The function.
    pub symbol: Symbol,
    /// The classes of the arguments.
    pub args: Box<[u32]>,
    /// The class of the result.
    pub result: u32,
}

impl ClassModel {
    /// The rows of a function.
    pub fn table(&self, symbol: Symbol) -> &[Row] {
        let start = self.rows.partition_point(|row| row.symbol < symbol);
        let len = self.rows[start..].partition_point(|row| row.symbol == symbol);
        &self.rows[start..][..len]
    }
}

impl EGraph {
    /// The current classes as elements of a model. Classes are numbered in the order of their first members.
    pub fn model(&self) -> ClassModel {
        const NONE: u32 = u32::MAX;
        let nodes = || (0..self.node_count() as u32).map(Node);
        let mut number = vec![NONE; self.node_count()];
        let mut first: Vec<Node> = Vec::new();
        for node in nodes() {
            let number = &mut number[self.root(node).index()];
            if *number == NONE {
                *number = first.len() as u32;
                first.push(node);
            }
        }
        let class_of: Vec<u32> = nodes().map(|node| number[self.root(node).index()]).collect();
        let values = first.iter().map(|&node| self.value_of_class(node)).collect();
        let owns_row = |node: &Node| {
            let data = &self.nodes[node.index()];
            data.is_owner && !data.is_value
        };
        let mut rows: Vec<Row> = nodes()
            .filter(owns_row)
            .map(|node| Row {
                symbol: self.symbol(node),
                args: self.args(node).iter().map(|arg| class_of[arg.index()]).collect(),
                result: class_of[node.index()],
            })
            .collect();
        rows.sort_by_key(|row| row.symbol);
        ClassModel { class_of, first, values, rows }
    }
}
