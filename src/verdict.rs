//! The rules for stop signal, near miss and completion signal (`loops.md` §4.3). Pure: text in, verdict with its reason out.
