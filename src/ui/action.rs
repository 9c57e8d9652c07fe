//! Everything a key can mean, by name. What it does is in `update`.

macro_rules! actions {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// What a key means. The names are those of the keymap file.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Action { $($(#[$doc])* $variant,)* }

        impl Action {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name in the keymap file.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

actions! {
    /// The list of runs.
    ShowRuns = "show-runs",
    /// The list of sessions.
    ShowSessions = "show-sessions",
    /// The log.
    ShowLog = "show-log",
    /// Go in, unfold, do the main thing.
    Open = "open",
    /// Go out, fold, close.
    Back = "back",
    /// One down.
    Down = "down",
    /// One up.
    Up = "up",
    /// To the first.
    First = "first",
    /// To the last; at the end of a conversation follow it.
    Last = "last",
    /// A page down.
    PageDown = "page-down",
    /// A page up.
    PageUp = "page-up",
    /// The next pane.
    NextPane = "next-pane",
    /// The pane before.
    PreviousPane = "previous-pane",
    /// The next run that needs a person.
    NextNeedsYou = "next-needs-you",
    /// Filter a list, search a text.
    Search = "search",
    /// All actions by name.
    Palette = "palette",
    /// The keys of this screen.
    Help = "help",
    /// Mouse on or off.
    Mouse = "mouse",
    /// Code to the left.
    ScrollLeft = "scroll-left",
    /// Code to the right.
    ScrollRight = "scroll-right",
    /// Leave trellis.
    Quit = "quit",
    /// Drive this home from now on.
    TakeOver = "take-over",
    /// Draw everything again.
    Redraw = "redraw",
    /// Suspend.
    Suspend = "suspend",
    /// Pause what goes, go on with what is paused.
    PauseOrGoOn = "pause-or-go-on",
    /// Leave the phase out.
    Skip = "skip",
    /// Review again; on an ended run: run on.
    Again = "again",
    /// Agree without the reviewer.
    Accept = "accept",
    /// More relays.
    More = "more",
    /// End the run.
    Stop = "stop",
    /// Send the phase prompt now.
    Ask = "ask",
    /// Don't wait longer.
    ForceRelay = "force-relay",
    /// Follow the session that replaced one.
    Follow = "follow",
    /// Resume a dead agent's session.
    BringBack = "bring-back",
    /// Write to a side.
    Write = "write",
    /// Go to the pane of the side at work, or of the session.
    GoToPane = "go-to-pane",
    /// Go to the other side's pane.
    GoToOtherPane = "go-to-other-pane",
    /// Settings.
    Options = "options",
    /// The log of one run.
    LogOfRun = "log-of-run",
    /// Another name.
    Rename = "rename",
    /// Copy.
    Copy = "copy",
    /// Remove an ended run; put a session away or take it back.
    Discard = "discard",
    /// A new run.
    NewRun = "new-run",
    /// A new pair.
    NewPair = "new-pair",
    /// A new session.
    StartAgent = "start-agent",
    /// Show or hide what is old or ended; all remarks of the log.
    ShowAll = "show-all",
    /// How much of the agents' work is shown.
    Detail = "detail",
    /// Compare two answers of a side.
    Compare = "compare",
    /// Open a text outside.
    Outside = "open-outside",
    /// The phase (or turn) before.
    PreviousPart = "previous-part",
    /// The next phase (or turn).
    NextPart = "next-part",
    /// The relay before.
    PreviousRelay = "previous-relay",
    /// The next relay.
    NextRelay = "next-relay",
    /// The next match.
    NextMatch = "next-match",
    /// The match before.
    PreviousMatch = "previous-match",
    /// Put the note below the list away for ever.
    HideNote = "hide-note",
    /// Hide until it changes.
    Hide = "hide",
    /// Edit here.
    Edit = "edit",
    /// Drop the message.
    Drop = "drop",
    /// Send or save.
    Save = "save",
    /// The original text again.
    Original = "original",
    /// Swap the two sides.
    Swap = "swap",
    /// Turn a choice, tick a box.
    Turn = "turn",
    /// Empty the line.
    EmptyLine = "empty-line",
    /// Delete the word before.
    DeleteWord = "delete-word",
    /// Delete to the end of the line.
    DeleteToEnd = "delete-to-end",
    /// To the line's beginning.
    LineStart = "line-start",
    /// To the line's end.
    LineEnd = "line-end",
}
