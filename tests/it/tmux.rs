//! The tmux transport against small programs that draw an agent's input box and misbehave, each test in a tmux server of
//! its own: the transport alone in `transport`, the whole driver above it in `bench`, finding who is where in `found`.

mod bench;
mod found;
mod rig;
mod transport;
