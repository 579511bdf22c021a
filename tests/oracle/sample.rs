// SPDX-License-Identifier: GPL-2.0
// Rust: panics that unwind, closures, boxed traits
use std::collections::BTreeMap;

trait Shape {
    fn area(&self, n: usize) -> usize;
}

struct Square(Vec<usize>);

impl Shape for Square {
    fn area(&self, n: usize) -> usize {
        self.0[n] * self.0[n]
    }
}

fn main() {
    let shapes: Vec<Box<dyn Shape>> = vec![Box::new(Square(vec![1, 2, 3]))];
    let mut map = BTreeMap::new();
    for (i, s) in shapes.iter().enumerate() {
        let r = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| s.area(i)));
        map.insert(format!("{i}"), r.unwrap_or(0));
    }
    println!("{map:?}");
}
