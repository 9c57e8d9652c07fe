//! What viewers are given: the projection, made from the books when something changed since the last one.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::Core;
use super::drawn::Drawn;
use super::kept::Held;
use super::sessions::Known;
use crate::driver::ports::{Agents, Records, Transcripts};
use crate::machine::{pair, plan, run};
use crate::model::command::Control;
use crate::model::event::Decision;
use crate::model::ids::{RecordKey, SessionKey, SessionRef};
use crate::model::pair::{PairRecord, PauseReason};
use crate::model::run::RunRecord;
use crate::projection::facts::{Facts, RecordFacts, SessionFacts};
use crate::projection::{Projection, Shown, Thread, build, thread};

/// What was shown last, and whether it is still true.
#[derive(Clone, Debug, Default)]
pub struct Screen {
    is_current: bool,
    last: Option<Arc<Projection>>,
    shown: Option<Shown>,
    thread: Option<Arc<Thread>>,
    told: Option<thread::Told>,
    /// Rows as they were made last.
    drawn: Drawn,
    /// Sessions whose transcript was read anew since the last projection.
    read: BTreeSet<SessionKey>,
    /// What whoever drives shows, as long as this process follows it.
    theirs: Option<Arc<Projection>>,
    seq: u64,
}

impl Screen {
    /// Something changed.
    pub const fn outdate(&mut self) {
        self.is_current = false;
    }

    /// Everything may have changed: nothing is told as it was.
    pub fn forget(&mut self) {
        self.outdate();
        self.told = None;
        self.drawn.forget();
    }

    /// A record was looked at: what time alone changes of it may be another.
    pub fn looked_at(&mut self, record: &RecordKey) {
        self.drawn.looked_at(record);
    }

    /// A transcript was read, and it is another than before.
    pub fn read_anew(&mut self, session: SessionKey) {
        self.read.insert(session);
    }

    /// How many rows of runs and of sessions were made since the start.
    #[must_use]
    pub const fn rows_made(&self) -> (u64, u64) {
        self.drawn.made()
    }

    /// Whether another process tells what it shows.
    #[must_use]
    pub const fn follows(&self) -> bool {
        self.theirs.is_some()
    }

    /// Whether the conversation of a record is on the screen.
    #[must_use]
    pub fn shows_record(&self, record: &RecordKey) -> bool {
        matches!(&self.shown, Some(Shown::Record(shown)) if shown == record)
    }

    /// Whether the conversation of a session is on the screen by itself.
    #[must_use]
    pub fn shows(&self, session: &SessionKey) -> bool {
        self.shown.as_ref().and_then(Shown::session) == Some(session)
    }
}

impl<R: Records, T: Transcripts, A: Agents> Core<R, T, A> {
    /// Which conversation viewers want to see.
    pub fn show(&mut self, shown: Option<Shown>, now: Timestamp) {
        if self.screen.shown == shown {
            return;
        }
        let before = std::mem::replace(&mut self.screen.shown, shown);
        let is_other = before.as_ref().and_then(Shown::session) != self.screen.shown.as_ref().and_then(Shown::session);
        if let Some(Shown::Whole(key)) = before.filter(|_| is_other) {
            // Its end is enough for a row.
            self.read_unused(&key, now);
        }
        self.screen.thread = None;
        self.screen.outdate();
        self.read_shown(now);
    }

    /// What whoever drives shows: it is shown here too, beside the conversation that this process looks at. Nothing else is
    /// read or observed meanwhile. `None`: nobody tells any more, and this process looks for itself.
    pub fn follow(&mut self, theirs: Option<Arc<Projection>>, now: Timestamp) {
        let is_over = self.screen.follows() && theirs.is_none();
        self.screen.theirs = theirs;
        self.screen.outdate();
        if is_over {
            self.dirty = self.books.watched();
            self.tick(now);
            self.look_on(now);
            self.settle(now);
        }
    }

    /// Whether another process tells what it shows.
    #[must_use]
    pub const fn follows(&self) -> bool {
        self.screen.follows()
    }

    /// Whether the conversation of some record is on the screen.
    #[must_use]
    pub const fn shows_a_record(&self) -> bool {
        matches!(&self.screen.shown, Some(Shown::Record(_)))
    }

    /// Reads what is shown although no look does.
    pub(super) fn read_shown(&mut self, now: Timestamp) {
        match self.screen.shown.clone() {
            Some(Shown::Record(key)) => self.read_sides(&key, now),
            Some(shown @ (Shown::Session(_) | Shown::Whole(_))) => {
                let Some(key) = shown.session() else { return };
                // That of a record is read whole with its look.
                let is_used = !self.books.with_session(key).is_empty();
                match self.session_ref(key) {
                    Some(session) if is_used => self.read(&session, now),
                    Some(session) => {
                        let whole = matches!(shown, Shown::Whole(_));
                        let read = self.transcripts.read_to_show(&session, whole, now);
                        self.took(&session, read);
                    }
                    None => {}
                }
            }
            None => {}
        }
        self.tell_states(now);
    }

    pub(super) fn draw(&mut self, now: Timestamp) -> Arc<Projection> {
        if let Some(last) = self.screen.last.as_ref().filter(|_| self.screen.is_current) {
            return last.clone();
        }
        let thread = self.thread(now);
        self.screen.thread.clone_from(&thread);
        let mut made = match self.screen.theirs.clone() {
            Some(theirs) => self.beside(&theirs, thread),
            None => self.make(thread, now),
        };
        let is_same = self.screen.last.as_ref().is_some_and(|last| is_same(last, &made));
        if !is_same {
            self.screen.seq = self.screen.seq.saturating_add(1);
            made.seq = self.screen.seq;
            made.at = Some(now);
            self.screen.last = Some(Arc::new(made));
        }
        self.screen.is_current = true;
        for session in std::mem::take(&mut self.screen.read) {
            if let Some(known) = self.sessions.get_mut(&session) {
                known.shown.clone_from(&known.read);
            }
        }
        self.screen.last.clone().unwrap_or_default()
    }

    /// What whoever drives shows, as it is to be shown here.
    fn beside(&self, theirs: &Projection, shown: Option<Arc<Thread>>) -> Projection {
        let own = self.notices.iter().filter(|own| theirs.notices.iter().all(|their| their.text != own.text));
        let notices = theirs.notices.iter().chain(own).cloned().collect();
        Projection {
            driver: self.options.driver.clone(),
            takes_orders: true,
            home: self.options.home.clone(),
            notices,
            shown,
            ..theirs.clone()
        }
    }

    fn make(&mut self, shown: Option<Arc<Thread>>, now: Timestamp) -> Projection {
        let mut drawn = std::mem::take(&mut self.screen.drawn);
        let facts = self.facts(shown, now);
        let runs = self.run_rows(&mut drawn, &facts, now);
        let sessions = self.session_rows(&mut drawn);
        let mut projection = build::projection(&facts, runs, sessions);
        projection.launches = self.launches.views();
        projection.unread = self.unread;
        projection.looking =
            self.unread > 0 || !self.to_look.is_empty() || self.sessions.values().any(Known::is_first_look);
        self.screen.drawn = drawn;
        projection
    }

    /// The projection made from nothing, for tests that compare: what was made before counts as it is, or is wrong.
    pub fn drawn_anew(&mut self, now: Timestamp) -> Projection {
        let drawn = std::mem::take(&mut self.screen.drawn);
        let made = self.make(None, now);
        self.screen.drawn = drawn;
        made
    }

    /// How many rows of runs and of sessions were made since the start.
    #[must_use]
    pub const fn rows_made(&self) -> (u64, u64) {
        self.screen.rows_made()
    }

    /// What is the same for every row.
    pub(super) fn facts(&self, shown: Option<Arc<Thread>>, now: Timestamp) -> Facts<'_> {
        Facts {
            now,
            zone: &self.options.zone,
            seq: self.screen.seq,
            driver: self.options.driver.clone(),
            home: &self.options.home,
            opens_windows: self.options.starts_nothing.is_none(),
            notices: &self.notices,
            found: &self.found,
            read_only: &self.read_only,
            log: self.why.lines(),
            shown,
        }
    }

    pub(super) fn run_facts<'a>(&'a self, held: &'a Held<RunRecord>, now: Timestamp) -> RecordFacts<'a> {
        let run = held.seen();
        let pairs = self.books.pairs_of(run);
        let scene = self.scene_for(held, now);
        let pair = run.current_pair_id.as_ref().and_then(|id| self.books.pair(id));
        let of_pair = pair.filter(|held| held.seen().is_active()).and_then(|held| held.seen().paused_reason);
        let paused = run.paused_reason.or(of_pair).filter(|_| run.is_active());
        let goes_on = paused.filter(|reason| is_of_machines(*reason)).map(|_| plan::of_run(run, &pairs, &scene));
        RecordFacts {
            run: Some(run),
            pair: pair.map(Held::seen),
            wait: run::wait(run, &pairs, &scene),
            impossible: with_going_on(run::impossible(run, &pairs, &scene), paused, goes_on.as_ref()),
            plan: goes_on,
            brings_back: paused.map_or_else(Vec::new, |_| plan::brings_back(Some(run), &pairs, &scene)),
            pairs,
            unsaved: held.unsaved().or_else(|| pair.and_then(Held::unsaved)),
            implementer: self.side_facts(&run.implementer),
            reviewer: self.side_facts(&run.reviewer),
            ledger: &self.ledger,
        }
    }

    fn side_facts(&self, side: &SessionRef) -> Option<&SessionFacts> {
        self.sessions.get(&side.key()).map(|known| &*known.facts)
    }

    pub(super) fn pair_facts<'a>(&'a self, held: &'a Held<PairRecord>, now: Timestamp) -> RecordFacts<'a> {
        let record = held.seen();
        let scene = self.scene_for(held, now);
        let paused = record.paused_reason.filter(|_| record.is_active());
        let continued = record.continues.as_ref().and_then(|id| self.books.pair(id));
        let goes_on = paused.filter(|reason| is_of_machines(*reason)).map(|_| plan::of_pair(record, &scene));
        RecordFacts {
            run: None,
            pair: Some(record),
            wait: pair::wait(record, &scene),
            impossible: with_going_on(pair::impossible(record, &scene), paused, goes_on.as_ref()),
            plan: goes_on,
            brings_back: paused.map_or_else(Vec::new, |_| plan::brings_back(None, &[record], &scene)),
            pairs: continued.into_iter().map(Held::seen).chain([record]).collect(),
            unsaved: held.unsaved(),
            implementer: self.side_facts(&record.implementer),
            reviewer: self.side_facts(&record.reviewer),
            ledger: &self.ledger,
        }
    }

    /// The conversation that is shown; the same one as before when nothing in it changed.
    fn thread(&mut self, now: Timestamp) -> Option<Arc<Thread>> {
        let before = self.screen.told.take();
        let made = match self.screen.shown.as_ref()? {
            Shown::Session(key) | Shown::Whole(key) => {
                let session = self.session_ref(key)?;
                let conversation = self.sessions.get(key)?.facts.conversation.as_ref()?;
                let told = thread::Told::of(&session, conversation, &self.ledger, before);
                let thread = Arc::clone(told.thread());
                self.screen.told = Some(told);
                return Some(thread);
            }
            Shown::Record(key) => {
                let facts = match key {
                    RecordKey::Run(id) => self.run_facts(self.books.run(id)?, now),
                    RecordKey::Pair(id) => self.pair_facts(self.books.pair(id)?, now),
                };
                thread::of_record(&facts)
            }
        };
        let same = self.screen.thread.as_ref().filter(|last| ***last == made).cloned();
        Some(same.unwrap_or_else(|| Arc::new(made)))
    }
}

/// What is impossible, and going on as well where it would be none.
fn with_going_on(
    mut impossible: Vec<(String, String)>,
    paused: Option<PauseReason>,
    plan: Option<&plan::Plan>,
) -> Vec<(String, String)> {
    let resume = Control::Resume.name();
    let why = paused.zip(plan).and_then(|(reason, plan)| plan.stops_again(reason));
    if let Some(why) = why.filter(|_| impossible.iter().all(|(name, _)| name != resume)) {
        impossible.push((resume.to_owned(), why));
    }
    impossible
}

/// A file that was changed under us is the store's: going on with it is no order to a machine.
fn is_of_machines(reason: PauseReason) -> bool {
    reason != PauseReason::RecordChanged
}

/// Whether two projections say the same; the conversation is compared by identity.
fn is_same(last: &Projection, made: &Projection) -> bool {
    let same_thread = match (&last.shown, &made.shown) {
        (Some(last), Some(made)) => Arc::ptr_eq(last, made),
        (None, None) => true,
        _ => false,
    };
    if !same_thread {
        return false;
    }
    // Each field is named: one that is added is thought of here.
    let Projection {
        seq: _,
        at: _,
        looking,
        unread,
        driver,
        takes_orders,
        home,
        notices,
        runs,
        sessions,
        launches,
        log,
        shown: _,
    } = last;
    *looking == made.looking
        && *unread == made.unread
        && *driver == made.driver
        && *takes_orders == made.takes_orders
        && *home == made.home
        && *notices == made.notices
        && *runs == made.runs
        && *sessions == made.sessions
        && *launches == made.launches
        && is_same_log(log, &made.log)
}

/// A line never changes; most are the very same.
fn is_same_log(last: &[Arc<Decision>], made: &[Arc<Decision>]) -> bool {
    last.len() == made.len() && last.iter().zip(made).all(|(one, other)| Arc::ptr_eq(one, other) || one == other)
}
