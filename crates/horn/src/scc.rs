//! Strongly connected components, by Tarjan's algorithm with the recursion on the heap.

/// Numbers the strongly connected components of a graph whose nodes are `0..successors.len()`. Returns the
/// component of each node and the number of components; an edge never leads to a component of higher number.
pub fn components(successors: &[Vec<usize>]) -> (Vec<usize>, usize) {
    const UNSEEN: usize = usize::MAX;
    let count = successors.len();
    let mut order = vec![UNSEEN; count];
    let mut lowest = vec![0; count];
    let mut component = vec![UNSEEN; count];
    let mut components = 0;
    let mut next_order = 0;
    let mut open = Vec::new();
    // Nodes under exploration, with the number of visited successors.
    let mut path: Vec<(usize, usize)> = Vec::new();
    for root in 0..count {
        if order[root] == UNSEEN {
            path.push((root, 0));
        }
        while let Some((node, followed)) = path.last_mut() {
            let node = *node;
            if *followed == 0 {
                order[node] = next_order;
                lowest[node] = next_order;
                next_order += 1;
                open.push(node);
            }
            if let Some(&successor) = successors[node].get(*followed) {
                *followed += 1;
                if order[successor] == UNSEEN {
                    path.push((successor, 0));
                } else if component[successor] == UNSEEN {
                    lowest[node] = lowest[node].min(order[successor]);
                }
                continue;
            }
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                lowest[parent] = lowest[parent].min(lowest[node]);
            }
            if lowest[node] == order[node] {
                while let Some(member) = open.pop() {
                    component[member] = components;
                    if member == node {
                        break;
                    }
                }
                components += 1;
            }
        }
    }
    (component, components)
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn two_loops_and_a_bridge() {
        let (component, count) = components(&[vec![1], vec![0, 2], vec![3], vec![3, 4], vec![]]);
        assert_eq!(count, 4);
        assert_eq!(component[0], component[1]);
        assert!(component[1] > component[2] && component[2] > component[3] && component[3] > component[4]);
    }

    #[test]
    fn a_path_of_a_million_nodes() {
        let last = 1_000_000;
        let successors: Vec<_> = (0..=last).map(|i| if i == last { vec![0] } else { vec![i + 1] }).collect();
        assert_eq!(components(&successors).1, 1);
    }

    #[test]
    fn a_node_without_successors_is_entered_once() {
        assert_eq!(components(&[vec![], vec![0, 0], vec![]]), (vec![0, 1, 2], 3));
    }
}
