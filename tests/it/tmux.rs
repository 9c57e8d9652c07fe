//! See the module's name.
