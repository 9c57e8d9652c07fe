//! What the screen is at a moment: which screens are open, what is selected, what was typed. No drawing, no terminal.
//! How it changes is in `update` and the files named after what changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::config::OnQuit;
use crate::model::command::{Command, Reply};
use crate::model::ids::{RecordKey, Role, SessionKey};
use crate::projection::summary::Summary;
use crate::projection::{Projection, RunView, SessionView, Shown};

use super::ahead::{Ahead, Side};
use super::compare::Compare;
use super::drives::as_driven;
use super::editor::Editor;
use super::form::Form;
use super::key::Key;
use super::keymap::{Keymap, Place};
use super::line_edit::LineEdit;
use super::list::Picked;
use super::look::{KeptEdit, Look};
use super::menu::Menu;
use super::row::Hit;
use super::scroll::Scroll;
use super::since::Since;
use super::times::Times;

/// A banner's keys count only after it was to be seen for this long.
pub const BANNER_GRACE: SignedDuration = SignedDuration::from_millis(400);
/// Lists keep their order for this long after a key.
pub const ORDER_HOLDS: SignedDuration = SignedDuration::from_secs(2);
/// A sentence in the footer stays this long.
pub const SAID_FOR: SignedDuration = SignedDuration::from_secs(4);
/// A `y` this soon after a refusal was meant for a question that is not there: it copies nothing.
pub const REFUSED_FOR: SignedDuration = SignedDuration::from_secs(2);

/// A screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Screen {
    /// The list of runs.
    Runs,
    /// One run.
    Run(RecordKey),
    /// The list of sessions.
    Sessions,
    /// One transcript.
    Session(SessionKey),
    /// The log, of everything or of one record.
    Log(Option<RecordKey>),
}

/// A part of the Run screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pane {
    /// What needs you, or the first wait.
    Banner,
    /// The conversation.
    Talk,
    /// The phases.
    Phases,
    /// The relays.
    Relays,
}

/// What lies over the screen; the last one has the keys.
#[derive(Debug)]
pub enum Over {
    /// The keys of a place.
    Help(Box<Help>),
    /// A list to choose from: the palette, a picker.
    Menu(Box<Menu>),
    /// Fields.
    Form(Box<Form>),
    /// A text that is written.
    Editor(Box<Writing>),
    /// A relay that waits for a look.
    Look(Look),
    /// Two answers of a side.
    Compare(Box<Compare>),
    /// What happened since the person looked.
    Since(Box<Since>),
    /// The filter or search line.
    Line(LineEdit),
    /// A question.
    Question(Question),
}

/// The keys of a place, scrolled and filtered.
#[derive(Debug)]
pub struct Help {
    /// Which.
    pub place: Place,
    /// First line in view.
    pub top: usize,
    /// What is looked for.
    pub filter: LineEdit,
    /// The filter is being typed.
    pub typing: bool,
}

/// A question in the footer: `y` or the key that asked is yes, any other key is no and does nothing else.
#[derive(Debug)]
pub struct Question {
    /// What is asked.
    pub words: String,
    /// The key that asked.
    pub key: Option<Key>,
    /// What happens on yes.
    pub yes: Answer,
}

/// What a yes does.
#[derive(Debug)]
pub enum Answer {
    /// These effects.
    Do(Vec<Effect>),
    /// The editor gets its original text again.
    Original,
    /// Leave; or with `b` leave it driving in the background.
    Leave,
}

/// An editor and what its text is for.
#[derive(Debug)]
pub struct Writing {
    /// The text.
    pub editor: Editor,
    /// What it is for.
    pub purpose: Purpose,
    /// Above it.
    pub title: String,
    /// An order is on its way; its reply closes the editor or says why not.
    pub waits: bool,
    /// Why the last attempt was refused.
    pub problem: Option<String>,
}

/// What a written text is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A message to a side.
    Write {
        /// Of which record.
        run: RecordKey,
        /// To which side.
        side: Role,
        /// The loop goes on after it.
        go_on: bool,
    },
    /// The text of a relay that waits for a look.
    Relay {
        /// Of which record.
        run: RecordKey,
    },
    /// A prompt in the form below.
    Prompt(&'static str),
}

/// How the screen ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// A person left it.
    Quit,
    /// A person left it, and another process drives in the background.
    Background,
    /// A signal asked for it, or the terminal is gone.
    Signalled,
    /// The engine behind it is gone.
    EngineGone,
}

/// What an update wants done outside.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "an update gives one or two of them, and they are used up at once")]
pub enum Effect {
    /// Send an order; its reply goes where `then` says.
    Send {
        /// The order.
        command: Command,
        /// What the reply leads to.
        then: Then,
    },
    /// Look for the sessions of the window again; what is seen comes back as a `Msg::Nearby`.
    LookAround,
    /// Ask for a conversation.
    Show(Option<Shown>),
    /// Put a text on the clipboard.
    Copy {
        /// The text.
        text: String,
        /// What it is, to be said.
        what: String,
    },
    /// Open a text in the person's editor; what comes back is a `Msg::Edited`.
    EditOutside(String),
    /// Show a text in the person's pager.
    Page(String),
    /// Look whether a run of these sides would run alone; what is seen comes back as a `Msg::Ahead`.
    LookAhead(Vec<Side>),
    /// Bring the pane of a session before the person.
    GoToPane(SessionKey),
    /// Mouse reports on or off.
    Mouse(bool),
    /// Keep a value.
    Remember(&'static str, Value),
    /// Draw everything again.
    Redraw,
    /// Suspend.
    Suspend,
    /// Tell what happened since a time; what comes back is a `Msg::Happened`.
    Summarise(Timestamp),
    /// Hand the home to a driver in the background, then leave.
    GoOn,
    /// Drive from now on.
    TakeOver,
    /// Leave.
    Quit(Exit),
}

/// What the reply to an order leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// It is said.
    Say,
    /// The run that came of it opens.
    Open,
    /// The form closes, or shows the problem at its field.
    Form,
    /// The editor and the preview close, or the editor shows the problem.
    Editor,
    /// The preview closes, or can be answered again.
    Look,
}

/// What happened.
#[derive(Clone, Debug)]
pub enum Msg {
    /// A key.
    Key(Key),
    /// Pasted text.
    Paste(String),
    /// The wheel: lines, downwards positive.
    Wheel(isize),
    /// A click on a cell.
    Click {
        /// Column.
        x: u16,
        /// Row.
        y: u16,
    },
    /// Another size of the terminal.
    Resize(u16, u16),
    /// A newer projection.
    Changed(Arc<Projection>),
    /// The reply to an order; `None`: the engine is gone.
    Replied(Then, Option<Reply>),
    /// The text that came back from the person's editor.
    Edited(String),
    /// What happened since the person looked.
    Happened(Summary),
    /// What was seen of the sides of a form.
    Ahead(Vec<Ahead>),
    /// What was seen around.
    Nearby(Nearby),
    /// Something outside did not work.
    Trouble(String),
    /// A time that was waited for has come.
    Woken,
}

/// Where the person looks for the runs of theirs: hints for new runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nearby {
    /// Sessions in the window trellis stands in, by pane order.
    pub window: Vec<SessionKey>,
    /// The folder trellis was started in.
    pub worktree: Option<String>,
    /// Agents would run as root.
    pub as_root: bool,
    /// What typing to agents beside it depends on.
    pub tmux: Tmux,
    /// The agents are a demo's: its script asks for the phases, too.
    pub demo: bool,
}

/// Where this screen stands, as far as typing to agents goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tmux {
    /// None is needed: the agents are scripted.
    #[default]
    Unneeded,
    /// In a pane of tmux: the two agents of its window are meant, or none.
    Inside,
    /// In a terminal that is no pane; tmux is installed.
    Outside,
    /// tmux is not installed.
    Missing,
}

/// A sentence in the footer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The sentence.
    pub words: String,
    /// Something did not work.
    pub is_error: bool,
    /// Since when.
    pub at: Timestamp,
}

/// The screen's state.
#[derive(Debug)]
pub struct App {
    /// The newest projection.
    pub projection: Arc<Projection>,
    /// The projection of the last frame: what the person saw when they pressed a key.
    pub seen: Arc<Projection>,
    /// Now.
    pub now: Timestamp,
    /// The person's zone.
    pub zone: TimeZone,
    /// Columns and rows.
    pub size: (u16, u16),
    /// Keys.
    pub keymap: Keymap,
    /// Hints for new runs.
    pub nearby: Nearby,
    /// What is remembered.
    pub memory: BTreeMap<String, Value>,
    /// What is known of sides that may be started.
    pub ahead: Vec<Ahead>,
    /// The sides that were looked at for the open form.
    pub looks_ahead_at: Vec<SessionKey>,
    /// Open screens, the shown one last; never empty.
    pub trail: Vec<Screen>,
    /// What lies over it.
    pub over: Vec<Over>,
    /// What the person made of relays that still wait for a look.
    pub edits: Vec<KeptEdit>,
    /// The runs.
    pub runs: Picked<RecordKey>,
    /// What the list of runs is filtered by.
    pub runs_filter: LineEdit,
    /// Ended and old runs too.
    pub all_runs: bool,
    /// The part of the Run screen a person chose.
    pub pane: Option<Pane>,
    /// Selected phase and relay, by place.
    pub phase: Picked<(u32, usize)>,
    /// Selected relay.
    pub relay: Picked<u32>,
    /// The conversation.
    pub talk: Scroll,
    /// What was last asked to be shown.
    pub shown: Option<Shown>,
    /// The sessions.
    pub sessions: Picked<SessionKey>,
    /// What they are filtered by.
    pub sessions_filter: LineEdit,
    /// Hidden, put away and old ones too.
    pub all_sessions: bool,
    /// The newest activity of a session that its person has seen; one that was not opened: what there was at the start.
    pub read_to: BTreeMap<SessionKey, Timestamp>,
    /// When the screen was opened.
    pub opened_at: Timestamp,
    /// Sessions hidden until they change, with the activity they had.
    pub hidden: Vec<(SessionKey, Option<Timestamp>)>,
    /// Selected line of the log, from its end; `None` follows the end.
    pub log_up: usize,
    /// Remarks too.
    pub all_log: bool,
    /// What the log is searched for.
    pub log_filter: LineEdit,
    /// What was selected went away since the last frame: a key would mean something that was not looked at.
    pub cursor_lost: bool,
    /// A sentence in the footer.
    pub said: Option<Said>,
    /// When an order was refused, with no key since.
    pub refused_at: Option<Timestamp>,
    /// The key that is being taken comes right after a refusal.
    pub after_refusal: bool,
    /// A record that was made and is to be opened once it is there.
    pub awaited: Option<RecordKey>,
    /// When the last key was pressed.
    pub last_key: Timestamp,
    /// When the person was last here, by a key.
    pub looked_at: Timestamp,
    /// The banner that is in view: whose, which, since when.
    pub banner_seen: Option<(RecordKey, String, Timestamp)>,
    /// Notes for the first days are shown.
    pub has_notes: bool,
    /// The home is being handed to a driver in the background.
    pub handing: bool,
    /// What leaving means while a run is going.
    pub on_quit: OnQuit,
    /// Mouse reports are on.
    pub mouse: bool,
    /// What can be clicked in the last frame: row, columns, meaning.
    pub hits: Vec<(u16, std::ops::Range<u16>, Hit)>,
}

impl App {
    /// Opens on the list of runs.
    #[must_use]
    pub fn new(projection: Arc<Projection>, keymap: Keymap, now: Timestamp, zone: TimeZone, size: (u16, u16)) -> Self {
        let projection = as_driven(projection, &keymap);
        let mut app = Self {
            seen: Arc::clone(&projection),
            projection,
            now,
            zone,
            size,
            keymap,
            nearby: Nearby::default(),
            memory: BTreeMap::new(),
            ahead: Vec::new(),
            looks_ahead_at: Vec::new(),
            trail: vec![Screen::Runs],
            over: Vec::new(),
            edits: Vec::new(),
            runs: Picked::default(),
            runs_filter: LineEdit::default(),
            all_runs: false,
            pane: None,
            phase: Picked::default(),
            relay: Picked::default(),
            talk: Scroll::default(),
            shown: None,
            sessions: Picked::default(),
            sessions_filter: LineEdit::default(),
            all_sessions: false,
            read_to: BTreeMap::new(),
            opened_at: now,
            hidden: Vec::new(),
            log_up: 0,
            all_log: false,
            log_filter: LineEdit::default(),
            cursor_lost: false,
            said: None,
            refused_at: None,
            after_refusal: false,
            awaited: None,
            last_key: now - SignedDuration::from_secs(60),
            looked_at: now,
            banner_seen: None,
            has_notes: false,
            handing: false,
            on_quit: OnQuit::Ask,
            mouse: false,
            hits: Vec::new(),
        };
        app.refresh();
        app
    }

    /// The screen that is shown.
    #[must_use]
    pub fn screen(&self) -> &Screen {
        self.trail.last().unwrap_or(&Screen::Runs)
    }

    /// Where a key is pressed now.
    #[must_use]
    pub fn place(&self) -> Place {
        match self.over.last() {
            Some(Over::Help(_)) => Place::Help,
            Some(Over::Menu(_) | Over::Line(_)) => Place::Palette,
            Some(Over::Form(_)) => Place::Form,
            Some(Over::Editor(_)) => Place::Editor,
            Some(Over::Look(_)) => Place::LookFirst,
            Some(Over::Since(_)) => Place::Summary,
            Some(Over::Question(_) | Over::Compare(_)) | None => self.screen_place(),
        }
    }

    /// The place of the screen below everything that lies over it.
    #[must_use]
    pub fn screen_place(&self) -> Place {
        match self.screen() {
            Screen::Runs => Place::Runs,
            Screen::Run(_) => Place::Run,
            Screen::Sessions => Place::Sessions,
            Screen::Session(_) => Place::Session,
            Screen::Log(_) => Place::Log,
        }
    }

    /// Whether list, detail and conversation stand side by side.
    #[must_use]
    pub const fn is_beside(&self) -> bool {
        super::layout::is_beside(self.size)
    }

    /// Times of a frame that is drawn now.
    #[must_use]
    pub fn times(&self) -> Times {
        Times::new(self.now, self.zone.clone())
    }

    /// The run that the keys of a run act on.
    #[must_use]
    pub fn target(&self) -> Option<RecordKey> {
        if let Some(Over::Look(look)) = self.over.last() {
            return Some(look.run.clone());
        }
        match self.screen() {
            Screen::Runs => self.runs.on().cloned(),
            Screen::Run(key) => Some(key.clone()),
            Screen::Log(key) => key.clone(),
            Screen::Sessions | Screen::Session(_) => None,
        }
    }

    /// The session that the keys of a session act on.
    #[must_use]
    pub fn session_target(&self) -> Option<SessionKey> {
        match self.screen() {
            Screen::Sessions => self.sessions.on().cloned(),
            Screen::Session(key) => Some(key.clone()),
            _ => None,
        }
    }

    /// A run as it is now.
    #[must_use]
    pub fn run(&self, key: &RecordKey) -> Option<&RunView> {
        self.projection.runs.iter().find(|run| run.key == *key)
    }

    /// A run as the person saw it in the last frame.
    #[must_use]
    pub fn run_as_seen(&self, key: &RecordKey) -> Option<&RunView> {
        self.seen.runs.iter().find(|run| run.key == *key)
    }

    /// A session as it is now.
    #[must_use]
    pub fn session(&self, key: &SessionKey) -> Option<&SessionView> {
        self.projection.sessions.iter().find(|view| view.session.is(key))
    }

    /// Says a sentence in the footer.
    pub fn say(&mut self, words: impl Into<String>, is_error: bool) {
        self.said = Some(Said { words: words.into(), is_error, at: self.now });
    }

    /// Says why an order was not given.
    pub fn refuse(&mut self, words: impl Into<String>) {
        self.say(words, true);
        self.refused_at = Some(self.now);
    }

    /// Which part of the Run screen is shown for a run: the one a person chose, else what needs them.
    #[must_use]
    pub fn pane_of(&self, run: &RunView) -> Pane {
        let panes = panes(run);
        self.pane.filter(|pane| panes.contains(pane)).or_else(|| panes.first().copied()).unwrap_or(Pane::Talk)
    }

    /// When the screen changes by itself, besides its times.
    pub fn wake(&self, times: &Times) {
        if let Some(said) = self.said.as_ref().filter(|said| !said.is_error) {
            times.wake_at(said.at + SAID_FOR);
        }
        if self.talk.search.is_busy() {
            times.wake_at(self.now + SignedDuration::from_millis(1));
        }
        if self.order_is_stale() {
            times.wake_at(self.last_key + ORDER_HOLDS);
        }
    }
}

/// The parts a run has, in the order of Tab.
#[must_use]
pub fn panes(run: &RunView) -> Vec<Pane> {
    let mut panes = Vec::new();
    if run.banner.is_some() || run.look_first.is_some() || run.first_wait || run.stopped_at.is_some() {
        panes.push(Pane::Banner);
    }
    panes.push(Pane::Talk);
    if matches!(run.key, RecordKey::Run(_)) && (!run.phases.is_empty() || run.phase.is_some()) {
        panes.push(Pane::Phases);
    }
    panes.push(Pane::Relays);
    panes
}
