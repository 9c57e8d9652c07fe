//! Tests of `talk`.
