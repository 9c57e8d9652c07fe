//! Deliberate faults of the machines, one at a time, for the tests that show that the simulator finds them.
//! In a release build there is nothing here but the answer no: no rule of a loop may live here.

/// A guard that is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An approval counts although the implementer has answered anew since.
    StaleVerdict,
    /// Answers are told apart by their text instead of by turn and message.
    TextForTurn,
    /// What was not seen to arrive is sent again at once.
    NoGrace,
    /// The newest answer of a side is read instead of the awaited turn's.
    NewestTurn,
}

#[cfg(debug_assertions)]
thread_local! {
    static PLANTED: std::cell::Cell<Option<Fault>> = const { std::cell::Cell::new(None) };
}

/// Plants a fault in this thread, or takes it out.
#[cfg(debug_assertions)]
pub fn plant(fault: Option<Fault>) {
    PLANTED.set(fault);
}

/// Whether a fault is planted.
#[cfg(debug_assertions)]
pub(crate) fn is(fault: Fault) -> bool {
    PLANTED.get() == Some(fault)
}

/// Whether a fault is planted: never.
#[cfg(not(debug_assertions))]
pub(crate) const fn is(_: Fault) -> bool {
    false
}
