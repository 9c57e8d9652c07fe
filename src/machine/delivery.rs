//! Whether a message of ours stands in its target, and what to do until it does (`loops.md` §3).
