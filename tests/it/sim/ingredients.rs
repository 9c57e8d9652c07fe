//! What can happen in a simulated world, by name: each ingredient with its room, its odds, and whether a run must come
//! through it without a person. When it strikes is decided in `world`, what it does in its room.

/// How often an ingredient strikes where it is in the plan; the plan draws a number between the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Odds {
    /// Percent of its occasions.
    Of(u64, u64),
    /// Mean seconds from one time to the next.
    Every(u64, u64),
    /// It comes of others; it is only counted.
    Comes,
}

/// Whether a run comes through it alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    Nobody,
    Person,
}

macro_rules! ingredients {
    ($($(#[doc = $doc:literal])* $name:ident, $room:literal, $odds:expr, $needs:expr;)*) => {
        /// See the module.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Ingredient { $($(#[doc = $doc])* $name,)* }

        impl Ingredient {
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            pub const fn room(self) -> &'static str {
                match self { $(Self::$name => $room,)* }
            }

            pub const fn odds(self) -> Odds {
                match self { $(Self::$name => $odds,)* }
            }

            pub const fn needs(self) -> Needs {
                match self { $(Self::$name => $needs,)* }
            }
        }
    };
}

use Needs::{Nobody, Person};
use Odds::{Comes, Every, Of};

ingredients! {
    /// A turn takes up to twenty minutes longer.
    SlowTurn, "agents", Of(2, 20), Nobody;
    /// A turn never ends; after a while the person presses Esc.
    SilentTurn, "agents", Of(1, 3), Person;
    /// The agent says that it is idle, whatever it does.
    LiesIdle, "agents", Of(2, 30), Nobody;
    /// The agent says that it works, whatever it does.
    LiesBusy, "agents", Of(2, 15), Person;
    /// The agent takes one prompt up twice.
    DoubledPrompt, "agents", Of(1, 8), Person;
    /// The agent writes its last line once more.
    RepeatedLine, "agents", Of(1, 10), Nobody;
    /// A line comes in two pieces.
    TornLine, "agents", Of(1, 20), Nobody;
    /// The transcript is put in its place anew, the same but for its identity.
    RotatedFile, "agents", Every(60, 900), Person;
    /// The last lines of the transcript are gone.
    LostTail, "agents", Every(100, 1_200), Person;
    /// A turn is interrupted instead of answered.
    Interruption, "agents", Of(1, 5), Person;
    /// A turn fails in a way that passes.
    FailedTurn, "agents", Of(1, 6), Person;
    /// A turn ends without an answer.
    NoAnswer, "agents", Of(1, 5), Person;
    /// The allowance is used up until a time that the agent names.
    Limit, "agents", Of(1, 5), Nobody;
    /// The agent's process dies.
    Crash, "agents", Every(100, 1_200), Person;
    /// A background agent reports after the turn (Claude).
    Report, "agents", Of(2, 20), Nobody;
    /// A running Claude takes a queued prompt into its turn.
    Absorbed, "agents", Comes, Nobody;
    /// A running Codex is steered by a prompt.
    Steered, "agents", Comes, Nobody;
    /// `/clear`: the conversation goes on under another session id.
    Cleared, "agents", Every(100, 1_200), Person;
    /// The record of a prompt comes up to 6 s late.
    LatePrompt, "transports", Of(2, 25), Nobody;
    /// It comes minutes late.
    Unconfirmed, "transports", Of(1, 6), Person;
    /// It never comes.
    Swallowed, "transports", Of(1, 4), Person;
    /// The paste is lost.
    LostPaste, "transports", Of(1, 15), Person;
    /// Enter is lost.
    LostEnter, "transports", Of(1, 15), Person;
    /// A queued prompt waits for minutes.
    LongQueue, "transports", Of(2, 25), Nobody;
    /// A dialog stands open for a while.
    Dialog, "transports", Every(40, 600), Person;
    /// The input box cannot be read for a while.
    BoxUnknown, "transports", Every(50, 700), Person;
    /// A call of a save is refused: no space left.
    NoSpace, "disk", Of(1, 8), Nobody;
    /// It is refused by the device, a sync among the calls.
    DeviceError, "disk", Of(1, 8), Nobody;
    /// It is refused: read-only.
    ReadOnly, "disk", Of(1, 8), Nobody;
    /// A write takes half.
    ShortWrite, "disk", Of(1, 8), Nobody;
    /// The disk is full for minutes.
    FullDisk, "disk", Every(60, 900), Nobody;
    /// The power is lost with the process: what was not brought to the disk is dropped or kept, name by name.
    PowerLoss, "disk", Of(30, 30), Nobody;
    /// Everything stands still for up to eight hours.
    Suspended, "clock", Every(60, 1_200), Nobody;
    /// The wall clock jumps forward by up to a day.
    JumpForward, "clock", Every(100, 1_200), Nobody;
    /// It jumps back by up to a day.
    JumpBack, "clock", Every(100, 1_200), Nobody;
    /// The driver is killed at a call of a port, the calls of a save among them.
    KillAtBoundary, "processes", Of(40, 80), Nobody;
    /// It is killed between two inputs.
    KillBetween, "processes", Of(40, 80), Nobody;
    /// A second process looks on.
    Viewer, "processes", Every(30, 600), Nobody;
    /// It is refused the lock while the driver lives.
    LockRefused, "processes", Comes, Nobody;
    /// It takes over when the driver is gone.
    TakenOver, "processes", Comes, Nobody;
    /// A change of a file is not told.
    LostHint, "watcher", Of(2, 60), Nobody;
    /// No change is told for up to half an hour.
    SilentWatcher, "watcher", Every(40, 900), Nobody;
    /// Every file is told to have changed, again and again.
    FloodedWatcher, "watcher", Every(40, 600), Nobody;
    /// A person types into a pane.
    Types, "people", Every(50, 700), Person;
    /// A person leaves half a sentence in a box, sends it, or clears it.
    Drafts, "people", Every(50, 700), Person;
    /// A person presses Esc in a running turn.
    PressesEsc, "people", Every(40, 900), Person;
    /// Orders out of the blue.
    Pauses, "people", Every(60, 900), Person;
    Retries, "people", Every(100, 1_200), Person;
    Accepts, "people", Every(100, 1_200), Person;
    Skips, "people", Every(100, 1_200), Person;
    Writes, "people", Every(60, 900), Person;
    Stops, "people", Every(200, 2_000), Person;
    /// Another run on the same sides after the first.
    SecondRun, "people", Of(100, 100), Nobody;
    /// What a person answers when a run asks.
    BringsBack, "people", Comes, Person;
    Follows, "people", Comes, Person;
    SendsAgain, "people", Comes, Person;
}
