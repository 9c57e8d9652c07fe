//! Every outbox entry of this home, so that a prompt's origin can be told: ours (whose, which entry) or human.

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Ledger {}
