//! The spanning tree of the network simplex: a basis of the transportation problem.
//!
//! Nodes are rows `0..rows` and columns `rows..rows + columns`. Every node except the root has one
//! tree arc, to its parent. The graph is bipartite, so the two ends of an arc determine its
//! direction (row to column) and its cost. An arc stores only its flow.
//!
//! Flows are integers, in units of 2⁻⁶⁰ of the whole mass. The ratio test is then exact, and equal
//! flows are equal. The rule against cycling below depends on this.
//!
//! The tree is kept *strongly feasible* (Cunningham 1976): an arc without flow always leads towards
//! the root. The leaving arc is the last blocking arc of the cycle, counted from its apex along the
//! entering arc. This keeps the property, and then no basis can return.

use crate::transport::Side;

/// No node: the parent of the root, or the end of a list of children.
const NONE: u32 = u32::MAX;

/// A strongly feasible spanning tree with its flows and potentials.
pub(super) struct Tree {
    rows: usize,
    parent: Vec<u32>,
    first_child: Vec<u32>,
    next_sibling: Vec<u32>,
    previous_sibling: Vec<u32>,
    /// Number of nodes in the subtree of each node, including itself.
    size: Vec<u32>,
    /// Flow on the arc to the parent.
    flow: Vec<u64>,
    /// Potential p of each node: `cost + p[row] − p[column]` is zero on tree arcs.
    pub(super) potential: Vec<f64>,
}

impl Tree {
    /// A tree without arcs.
    fn new(rows: usize, columns: usize) -> Self {
        let nodes = rows + columns;
        Self {
            rows,
            parent: vec![NONE; nodes],
            first_child: vec![NONE; nodes],
            next_sibling: vec![NONE; nodes],
            previous_sibling: vec![NONE; nodes],
            size: vec![1; nodes],
            flow: vec![0; nodes],
            potential: vec![0.0; nodes],
        }
    }

    /// Builds the tree with the root `root` from the basic arcs `(row, column, flow)`. The arcs
    /// must span all nodes.
    pub(super) fn from_arcs(
        rows: usize,
        columns: usize,
        root: usize,
        arcs: &[(usize, usize, u64)],
    ) -> Self {
        let mut tree = Self::new(rows, columns);
        let nodes = rows + columns;
        // Neighbours of each node, in one array with offsets.
        let mut offset = vec![0_usize; nodes + 1];
        for &(row, column, _) in arcs {
            offset[row + 1] += 1;
            offset[rows + column + 1] += 1;
        }
        for node in 0..nodes {
            offset[node + 1] += offset[node];
        }
        let mut fill = offset.clone();
        let mut neighbours = vec![(0_usize, 0_u64); 2 * arcs.len()];
        for &(row, column, flow) in arcs {
            for (from, to) in [(row, rows + column), (rows + column, row)] {
                neighbours[fill[from]] = (to, flow);
                fill[from] += 1;
            }
        }
        let mut order = Vec::with_capacity(nodes);
        order.push(root);
        let mut done = 0;
        while done < order.len() {
            let node = order[done];
            done += 1;
            for &(next, flow) in &neighbours[offset[node]..offset[node + 1]] {
                if tree.parent[node] != next as u32 {
                    tree.flow[next] = flow;
                    tree.attach(next, node);
                    order.push(next);
                }
            }
        }
        debug_assert_eq!(order.len(), nodes, "the arcs span the graph");
        for &node in order.iter().skip(1).rev() {
            let parent = tree.parent[node] as usize;
            tree.size[parent] += tree.size[node];
        }
        tree
    }

    /// Whether a tree arc joins the row and the column.
    pub(super) fn contains(&self, row: usize, column: usize) -> bool {
        let column = self.rows + column;
        self.parent[row] == column as u32 || self.parent[column] == row as u32
    }

    /// The tree arcs: row, column, flow.
    pub(super) fn arcs(&self) -> impl Iterator<Item = (usize, usize, u64)> + '_ {
        self.parent.iter().enumerate().filter(|&(_, &p)| p != NONE).map(|(node, &parent)| {
            let parent = parent as usize;
            match self.side(node) {
                Side::Rows => (node, parent - self.rows, self.flow[node]),
                Side::Columns => (parent, node - self.rows, self.flow[node]),
            }
        })
    }

    /// Sets every potential from the costs of the tree arcs, with zero at the root. This removes
    /// the rounding that accumulates in [`Tree::pivot`].
    pub(super) fn set_potentials(&mut self, cost: impl Fn(usize, usize) -> f64) {
        let root = self.parent.iter().position(|&p| p == NONE).unwrap_or(0);
        self.potential[root] = 0.0;
        let mut node = root;
        while let Some(next) = self.next_in_subtree(node, root) {
            node = next;
            let parent = self.parent[node] as usize;
            self.potential[node] = match self.side(node) {
                Side::Rows => self.potential[parent] - cost(node, parent - self.rows),
                Side::Columns => self.potential[parent] + cost(parent, node - self.rows),
            };
        }
    }

    /// Brings the arc from `row` to `column`, with reduced cost `reduced`, into the tree.
    pub(super) fn pivot(&mut self, row: usize, column: usize, reduced: f64) {
        let column = self.rows + column;
        let apex = self.apex(row, column);
        let (leaving, side, amount) = self.blocking(row, column, apex);
        if amount > 0 {
            self.push_flow(row, column, apex, amount);
        }
        // One end of the entering arc is cut off from the root. It moves under the other end.
        let (moved, onto, shift) = match side {
            Side::Rows => (row, column, -reduced),
            Side::Columns => (column, row, reduced),
        };
        self.rehang(moved, onto, leaving, apex, amount);
        self.shift(moved, shift);
    }

    fn side(&self, node: usize) -> Side {
        if node < self.rows { Side::Rows } else { Side::Columns }
    }

    /// The lowest common ancestor. The node with the smaller subtree cannot be it.
    fn apex(&self, mut u: usize, mut v: usize) -> usize {
        while u != v {
            if self.size[u] < self.size[v] {
                u = self.parent[u] as usize;
            } else {
                v = self.parent[v] as usize;
            }
        }
        u
    }

    /// Returns the leaving arc (by its lower node), its side of the cycle, and its flow.
    ///
    /// Flow goes from the apex down to the row, over the entering arc to the column, and up to the
    /// apex. On the row's path it falls on arcs whose lower node is a row; on the column's path, on
    /// arcs whose lower node is a column. The entering arc cannot be blocked. Each path with an arc
    /// has a falling arc at its end, so there is always an arc that can leave.
    fn blocking(&self, row: usize, column: usize, apex: usize) -> (usize, Side, u64) {
        let mut leaving = (row, Side::Rows, u64::MAX);
        let mut node = row;
        while node != apex {
            if node < self.rows && self.flow[node] < leaving.2 {
                leaving = (node, Side::Rows, self.flow[node]);
            }
            node = self.parent[node] as usize;
        }
        node = column;
        while node != apex {
            if node >= self.rows && self.flow[node] <= leaving.2 {
                leaving = (node, Side::Columns, self.flow[node]);
            }
            node = self.parent[node] as usize;
        }
        leaving
    }

    fn push_flow(&mut self, row: usize, column: usize, apex: usize, amount: u64) {
        for (start, falls) in [(row, Side::Rows), (column, Side::Columns)] {
            let mut node = start;
            while node != apex {
                if self.side(node) == falls {
                    self.flow[node] -= amount;
                } else {
                    self.flow[node] += amount;
                }
                node = self.parent[node] as usize;
            }
        }
    }

    /// Cuts the arc above `leaving`, turns its subtree over so that `moved` is on top, and attaches
    /// it under `onto` with the given flow.
    fn rehang(&mut self, moved: usize, onto: usize, leaving: usize, apex: usize, amount: u64) {
        let whole = self.size[leaving];
        let mut above = self.parent[leaving] as usize;
        while above != apex {
            self.size[above] -= whole;
            above = self.parent[above] as usize;
        }
        let mut node = moved;
        let mut new_parent = onto;
        let mut new_flow = amount;
        // Size of the old subtree of the node before, which is no longer below this one.
        let mut taken = 0;
        loop {
            let old_parent = self.parent[node] as usize;
            let old_size = self.size[node];
            self.detach(node);
            self.attach(node, new_parent);
            self.size[node] = whole - taken;
            taken = old_size;
            std::mem::swap(&mut self.flow[node], &mut new_flow);
            if node == leaving {
                break;
            }
            new_parent = node;
            node = old_parent;
        }
        above = onto;
        while above != apex {
            self.size[above] += whole;
            above = self.parent[above] as usize;
        }
    }

    fn attach(&mut self, node: usize, parent: usize) {
        let first = self.first_child[parent];
        self.parent[node] = parent as u32;
        self.previous_sibling[node] = NONE;
        self.next_sibling[node] = first;
        if first != NONE {
            self.previous_sibling[first as usize] = node as u32;
        }
        self.first_child[parent] = node as u32;
    }

    fn detach(&mut self, node: usize) {
        let (previous, next) = (self.previous_sibling[node], self.next_sibling[node]);
        if previous == NONE {
            self.first_child[self.parent[node] as usize] = next;
        } else {
            self.next_sibling[previous as usize] = next;
        }
        if next != NONE {
            self.previous_sibling[next as usize] = previous;
        }
    }

    /// Adds `by` to the potential of a node and of all nodes below it.
    fn shift(&mut self, top: usize, by: f64) {
        self.potential[top] += by;
        let mut node = top;
        while let Some(next) = self.next_in_subtree(node, top) {
            node = next;
            self.potential[node] += by;
        }
    }

    /// The next node of the subtree of `top`, parents before children.
    fn next_in_subtree(&self, mut node: usize, top: usize) -> Option<usize> {
        let child = self.first_child[node];
        if child != NONE {
            return Some(child as usize);
        }
        while node != top {
            let sibling = self.next_sibling[node];
            if sibling != NONE {
                return Some(sibling as usize);
            }
            node = self.parent[node] as usize;
        }
        None
    }
}
