//! Tests of `scroll`.
