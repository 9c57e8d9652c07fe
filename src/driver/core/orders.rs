//! Orders of people: checked against what they saw, carried out through the law, answered when they are saved.

use jiff::Timestamp;

use super::Core;
use super::acts::not_saved;
use super::books::Shelved;
use super::kept::Held;
use super::sessions::ComingBack;
use crate::driver::ports::{Agents, Comeback, Job, Records, Transcripts};
use crate::machine::{launch, limits, pair, plan, run};
use crate::model::command::{Command, Control, Refusal, RefusalKind, Reply, SessionControl};
use crate::model::event::EventKind;
use crate::model::ids::{Agent, PairId, RecordKey, RunId, SessionKey, SessionRef};
use crate::model::pair::{PairRecord, PauseReason};
use crate::model::reach::{LiveStatus, OnItsWay, ProcessFact, Tick, Transport};
use crate::model::session::{Launch, SessionNote};
use crate::projection::DriverFact;

/// How far a pair's revision is shifted in what a run's screen showed.
const PAIR_SHIFT: u32 = 32;

/// The revision a screen shows for a run with its pair: it moves when either moves.
#[must_use]
pub fn seen_revision(run: u64, pair: Option<u64>) -> u64 {
    (run & u64::from(u32::MAX)) | (pair.unwrap_or(0) << PAIR_SHIFT)
}

impl<R: Records, T: Transcripts, A: Agents> Core<R, T, A> {
    /// Takes an order in.
    pub(super) fn command(&mut self, ticket: u64, command: Command, now: Timestamp) {
        if let Some(refusal) = self.not_driver() {
            self.replies.push_back((ticket, Reply::Refused(refusal)));
            return;
        }
        let reply = match command {
            Command::CreateRun(order) => {
                let sides = [order.implementer.clone(), order.reviewer.clone()];
                return self.create(ticket, Command::CreateRun(order), sides, now);
            }
            Command::CreatePair(order) => {
                let sides = [order.implementer.clone(), order.reviewer.clone()];
                return self.create(ticket, Command::CreatePair(order), sides, now);
            }
            Command::Control { target, expect, control } => self.control(&target, expect, &control, now),
            Command::Session { session, control: control @ SessionControl::Reach { .. } } => {
                if let Some(known) = self.session_ref(&session) {
                    return self.choose(ticket, Command::Session { session, control }, known, now);
                }
                self.session_control(&session, control, now)
            }
            Command::Session { session, control } => self.session_control(&session, control, now),
            Command::StartSession(order) => return self.start_session(ticket, &order, now),
            Command::LookNow => {
                self.tick(now);
                Ok(Reply::Done { record: None, note: "looks at everything".to_owned() })
            }
        };
        self.replies.push_back((ticket, reply.unwrap_or_else(Reply::Refused)));
    }

    fn not_driver(&self) -> Option<Refusal> {
        let message = match &self.options.driver {
            DriverFact::Here => return None,
            DriverFact::Elsewhere { pid: Some(pid), background: true } => format!(
                "process {pid} drives this home in the background: end it with {}, then try again",
                self.options.stop_command
            ),
            elsewhere @ (DriverFact::Elsewhere { .. } | DriverFact::Silent { .. }) => {
                elsewhere.refuses().unwrap_or_default()
            }
            DriverFact::Nobody => "nobody drives this home: take over first".to_owned(),
            DriverFact::Starting => "still starting: try again in a moment".to_owned(),
        };
        Some(Refusal { kind: RefusalKind::NotDriver, message, field: None })
    }

    fn control(
        &mut self,
        target: &RecordKey,
        expect: Option<u64>,
        control: &Control,
        now: Timestamp,
    ) -> Result<Reply, Refusal> {
        if let Some(foreign) = self.read_only.iter().find(|foreign| &foreign.key == target) {
            return Err(Refusal::not_now(format!("{target} is shown only: {}", foreign.sentence())));
        }
        let is_changed = match target {
            RecordKey::Run(id) => self.books.run(id).ok_or_else(|| unknown(target))?.is_changed(),
            RecordKey::Pair(id) => self.books.pair(id).ok_or_else(|| unknown(target))?.is_changed(),
        };
        self.check_unmoved(target, expect, control)?;
        if is_changed && let Some(reply) = self.control_changed(target, control, now)? {
            return Ok(reply);
        }
        if *control == Control::Resume {
            self.refuse_going_nowhere(target, now)?;
        }
        match target {
            RecordKey::Run(id) => self.control_run(id, control, now),
            RecordKey::Pair(id) => self.control_pair(id, control, now),
        }
    }

    /// Refuses a person's order to go on where that would stop again at once, for a side that is not there.
    fn refuse_going_nowhere(&self, target: &RecordKey, now: Timestamp) -> Result<(), Refusal> {
        let (paused, plan) = match target {
            RecordKey::Run(id) => {
                let held = self.books.run(id).ok_or_else(|| unknown(target))?;
                let of_pair = self.current_pair(id).filter(|pair| pair.record.is_active());
                let paused = held.record.paused_reason.or_else(|| of_pair.and_then(|pair| pair.record.paused_reason));
                let scene = self.shown_scene(&held.record.implementer, &held.record.reviewer, now);
                (paused, plan::of_run(&held.record, &self.books.pairs_of(&held.record), &scene))
            }
            RecordKey::Pair(id) => {
                let held = self.books.pair(id).ok_or_else(|| unknown(target))?;
                let scene = self.shown_scene(&held.record.implementer, &held.record.reviewer, now);
                (held.record.paused_reason, plan::of_pair(&held.record, &scene))
            }
        };
        paused.and_then(|reason| plan.stops_again(reason)).map_or(Ok(()), |why| Err(Refusal::not_now(why)))
    }

    /// Refuses an order that was meant for another state of the record.
    fn check_unmoved(&self, target: &RecordKey, expect: Option<u64>, control: &Control) -> Result<(), Refusal> {
        let Some(expect) = expect.filter(|_| !holds_whatever_moved(control)) else { return Ok(()) };
        let own = self.books.revision(target) & u64::from(u32::MAX);
        let (expected_own, expected_pair) = (expect & u64::from(u32::MAX), expect >> PAIR_SHIFT);
        let pair = match target {
            RecordKey::Run(id) => self.current_pair(id).map_or(0, |held| held.record.revision),
            RecordKey::Pair(_) => 0,
        };
        let pair_counts = expected_pair != 0 && !is_of_the_run_alone(control);
        if own == expected_own && (!pair_counts || pair == expected_pair) {
            return Ok(());
        }
        let message = "it moved while you looked: look again, then repeat the order".to_owned();
        Err(Refusal { kind: RefusalKind::Moved, message, field: None })
    }

    /// The pair of a run's current attempt.
    pub(super) fn current_pair(&self, run: &RunId) -> Option<&Held<PairRecord>> {
        let run = self.books.run(run)?;
        run.record.current_pair_id.as_ref().and_then(|id| self.books.pair(id))
    }

    fn control_run(&mut self, id: &RunId, control: &Control, now: Timestamp) -> Result<Reply, Refusal> {
        let key = RecordKey::Run(id.clone());
        let held = self.books.run(id).ok_or_else(|| unknown(&key))?;
        let pairs = self.books.pairs_of(&held.record);
        let scene = self.shown_scene(&held.record.implementer, &held.record.reviewer, now);
        let step = run::control(&held.record, &pairs, control, &scene)?;
        self.answer(step, key, control, now)
    }

    fn control_pair(&mut self, id: &PairId, control: &Control, now: Timestamp) -> Result<Reply, Refusal> {
        let key = RecordKey::Pair(id.clone());
        let held = self.books.pair(id).ok_or_else(|| unknown(&key))?;
        let scene = self.shown_scene(&held.record.implementer, &held.record.reviewer, now);
        let step = pair::control(&held.record, control, &scene)?;
        self.answer(step, key, control, now)
    }

    fn answer<K: Shelved>(
        &mut self,
        step: crate::machine::Step<K>,
        key: RecordKey,
        control: &Control,
        now: Timestamp,
    ) -> Result<Reply, Refusal> {
        self.dirty.extend(self.books.related(&key));
        let acted = self.law(step, now).map_err(|error| not_saved(&error))?;
        if let Some(refusal) = acted.refused {
            return Err(refusal);
        }
        let resumed = resumed_words(&acted.resumes, self.options.starts_nothing.is_none());
        let note = acted.words.or(resumed).unwrap_or_else(|| done_words(control).to_owned());
        Ok(Reply::Done { record: Some(acted.made.unwrap_or(key)), note })
    }

    /// Controls of a record whose file is somebody else's: take that file, or put it away and stop.
    fn control_changed(
        &mut self,
        target: &RecordKey,
        control: &Control,
        now: Timestamp,
    ) -> Result<Option<Reply>, Refusal> {
        match control {
            Control::Resume => {
                match target {
                    RecordKey::Run(id) => self.adopt_run(id, now)?,
                    RecordKey::Pair(id) => self.adopt_pair(id, now)?,
                }
                let note = "the file on the disk counts from now on".to_owned();
                Ok(Some(Reply::Done { record: Some(target.clone()), note }))
            }
            Control::Stop => {
                self.records.displace(target).map_err(|error| not_saved(&error))?;
                Ok(None)
            }
            _ => Err(Refusal::not_now(
                "its file was changed by another program: resume takes that file, stop puts it away and keeps ours",
            )),
        }
    }

    fn adopt_run(&mut self, id: &RunId, now: Timestamp) -> Result<(), Refusal> {
        let record = self.records.adopt_run(id).map_err(|error| not_saved(&error))?;
        self.ledger.add_run(&record);
        self.adopted(record, EventKind::ChecklistResumed, now);
        Ok(())
    }

    /// Takes the file on the disk as a pair's record.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn adopt_pair(&mut self, id: &PairId, now: Timestamp) -> Result<(), Refusal> {
        let record = self.records.adopt_pair(id).map_err(|error| not_saved(&error))?;
        self.ledger.add_pair(&record);
        self.adopted(record, EventKind::PairResumed, now);
        Ok(())
    }

    fn adopted<K: Shelved>(&mut self, record: K, event: EventKind, now: Timestamp) {
        let key = record.key();
        record.put(&mut self.books);
        self.dirty.extend(self.books.related(&key));
        self.screen.outdate();
        self.publish(event, &key, Some("record_changed".to_owned()), now);
    }

    /// An order about a session.
    ///
    /// # Errors
    /// It is not known, it is not possible now, or it could not be saved.
    pub(super) fn session_control(
        &mut self,
        key: &SessionKey,
        control: SessionControl,
        now: Timestamp,
    ) -> Result<Reply, Refusal> {
        let session = self.session_ref(key).ok_or_else(|| Refusal {
            kind: RefusalKind::Unknown,
            message: format!("no session {key} is known here"),
            field: None,
        })?;
        let mut note = self.sessions.get(key).map(|known| known.facts.note.clone()).unwrap_or_default();
        note.schema = note.schema.max(crate::model::pair::SCHEMA);
        let words = match control {
            SessionControl::Rename { name } => {
                limits::name("name", name.trim())?;
                note.name = Some(name.trim().to_owned()).filter(|name| !name.is_empty());
                "renamed"
            }
            SessionControl::PutAway => {
                note.put_away_at = note.put_away_at.or(Some(now));
                "put away; the agent's own file stays as it is"
            }
            SessionControl::TakeBack => {
                note.put_away_at = None;
                "taken back"
            }
            SessionControl::BringBack => {
                self.bring_back(session, format!("{key} {now}"));
                return Ok(Reply::Done { record: None, note: format!("resumes {key}") });
            }
            SessionControl::Reach { transport, permission_mode, model } => {
                let chosen =
                    [permission_mode.as_deref(), model.as_deref()].map(|word| word.filter(|word| !word.is_empty()));
                launch::check_choice(key.agent, chosen, true, self.options.as_root)?;
                self.may_be_reached_by(key, transport, &note)?;
                reached_by(&mut note, transport, &session.worktree, [permission_mode, model])
            }
        };
        self.records.save_session(key, &note).map_err(|error| not_saved(&error))?;
        self.keep_note(key.clone(), note);
        self.dirty.extend(self.books.with_session(key));
        self.screen.outdate();
        Ok(Reply::Done { record: None, note: words.to_owned() })
    }

    /// Refuses another way to a session while something is on the present one.
    fn may_be_reached_by(&self, key: &SessionKey, way: Transport, note: &SessionNote) -> Result<(), Refusal> {
        if !matches!(way, Transport::Tmux | Transport::Headless) {
            return Err(Refusal::invalid("transport", "choose headless or tmux"));
        }
        if let Some((record, _)) = self.ledger.in_flight_to(key).first() {
            return Err(Refusal::not_now(format!("a message of {record} is on its way to it: wait for it")));
        }
        let Some(reach) = self.sessions.get(key).and_then(|known| known.facts.reach.as_ref()) else {
            return Err(Refusal::not_now(format!("{key} could not be looked at: try again")));
        };
        let was_headless = note.transport == Some(Transport::Headless);
        let why = match (way, was_headless) {
            (Transport::Headless, false) if reach.process == ProcessFact::Dead => None,
            (Transport::Headless, false) => Some(match (&reach.process, reach.ticks.missing()) {
                (ProcessFact::Alive { .. }, _) => {
                    let server = match key.agent {
                        Agent::Claude => "",
                        Agent::Codex => "; its background server holds it until `codex app-server daemon stop`",
                    };
                    format!("{key} is open ({}): end it there first{server}", reach.place)
                }
                (_, Some(why)) => why.to_owned(),
                (_, None) => format!("{key} could not be looked at: try again"),
            }),
            (Transport::Tmux, true) if reach.on_its_way == OnItsWay::Carried || reach.status == LiveStatus::Busy => {
                Some(format!("{key} is at work ({}): wait for the end of its turn", reach.place))
            }
            (Transport::Headless, true) => match &reach.ticks.pane {
                Tick::Missing(why) => Some(why.clone()),
                Tick::Holds => None,
            },
            _ => None,
        };
        why.map_or(Ok(()), |why| Err(Refusal::not_now(why)))
    }

    /// Resumes a session with what it was launched with. The agents of one order come back side by side.
    pub(super) fn bring_back(&mut self, session: SessionRef, order: String) {
        let key = session.key();
        let launch = self.sessions.get(&key).and_then(|known| known.facts.note.launch.clone());
        self.coming_back.insert(key, ComingBack::Resuming);
        self.agents.begin(Job::BringBack(Box::new(Comeback { session, launch, order })));
    }

    /// A session was brought back: what was paused because it was gone goes on, once none of its sides is still awaited.
    pub(super) fn go_on_with(&mut self, session: &SessionKey, now: Timestamp) {
        for key in self.books.with_session(session) {
            let sides = self.books.sides(&key).into_iter().flatten();
            if sides.map(SessionRef::key).any(|side| self.coming_back.contains_key(&side)) {
                continue;
            }
            let order = match &key {
                RecordKey::Run(id) => {
                    let of_run = self.books.run(id).and_then(|held| held.seen().paused_reason);
                    let of_pair = self.current_pair(id).and_then(|held| held.seen().paused_reason);
                    (of_run.or(of_pair) == Some(PauseReason::AgentGone))
                        .then(|| self.control_run(id, &Control::Resume, now))
                }
                RecordKey::Pair(id) => {
                    let alone = self.books.pair(id).filter(|held| held.record.owner != pair::CHECKLIST);
                    let is_gone = alone.is_some_and(|held| held.seen().paused_reason == Some(PauseReason::AgentGone));
                    is_gone.then(|| self.control_pair(id, &Control::Resume, now))
                }
            };
            if let Some(Err(refusal)) = order {
                self.notice(refusal.message, true, now);
            }
        }
    }

    /// A session by its key, wherever it is known from.
    pub(super) fn session_ref(&self, key: &SessionKey) -> Option<SessionRef> {
        let of_run = self.books.runs().flat_map(|held| [&held.record.implementer, &held.record.reviewer]);
        let of_pair = self.books.pairs().flat_map(|held| [&held.record.implementer, &held.record.reviewer]);
        let found = self.found.iter().map(|found| &found.session);
        let known = found.chain(of_run).chain(of_pair).find(|session| session.is(key)).cloned();
        // One that trellis launched has no transcript before its first message.
        let launched = || {
            let launch = self.sessions.get(key)?.facts.note.launch.as_ref()?;
            let worktree = launch.worktree.clone();
            Some(SessionRef { agent: key.agent, worktree, session_id: key.session_id.clone() })
        };
        known.or_else(launched)
    }
}

/// Notes how a session is reached from now on; the words for it.
fn reached_by(
    note: &mut SessionNote,
    way: Transport,
    worktree: &str,
    [mode, model]: [Option<String>; 2],
) -> &'static str {
    let was_headless = note.transport == Some(Transport::Headless);
    note.transport = Some(way);
    let launch = note.launch.get_or_insert_with(Launch::default);
    if launch.worktree.is_empty() {
        worktree.clone_into(&mut launch.worktree);
    }
    if way != Transport::Headless {
        return "reached through its pane from now on: open it in one";
    }
    if !was_headless {
        // Words for a pane are none for a program without one.
        launch.argv.clear();
    }
    let set = |slot: &mut Option<String>, value: Option<String>| {
        if let Some(value) = value {
            *slot = Some(value).filter(|value| !value.is_empty());
        }
    };
    set(&mut launch.permission_mode, mode);
    set(&mut launch.model, model);
    "headless from its next message on: its program is started for each one"
}

/// Controls that mean the same whatever moved: who stops or holds a run stops or holds this run, wherever it is by now.
const fn holds_whatever_moved(control: &Control) -> bool {
    matches!(control, Control::Pause | Control::Stop)
}

/// Controls that mean the same whatever the pair just did.
const fn is_of_the_run_alone(control: &Control) -> bool {
    matches!(control, Control::Rename { .. } | Control::Configure { .. } | Control::RunOn | Control::Discard)
}

/// What is brought back, and where to look for it.
fn resumed_words(sessions: &[SessionKey], in_windows: bool) -> Option<String> {
    let agents: Vec<&str> = sessions.iter().map(|session| session.agent.as_str()).collect();
    let whose = match agents.as_slice() {
        [] => return None,
        [one] => format!("{one}'s session"),
        [one, other] if one != other => format!("{one}'s and {other}'s sessions"),
        _ => "both sessions".to_owned(),
    };
    let place = if in_windows { " in a new tmux window; the log names the panes" } else { "" };
    Some(format!("resumes {whose}{place}"))
}

fn unknown(key: &RecordKey) -> Refusal {
    Refusal { kind: RefusalKind::Unknown, message: format!("no run or pair {key} is known here"), field: None }
}

/// What an order did, when the machine has no words of its own for it.
const fn done_words(control: &Control) -> &'static str {
    match control {
        Control::Pause => "paused",
        Control::Resume => "goes on",
        Control::Ask => "asks for the phase",
        Control::Retry => "reviews again",
        Control::More { .. } => "more relays",
        Control::Accept => "accepted",
        Control::Skip => "skipped",
        Control::AsFeedback => "goes back as feedback",
        Control::Rename { .. } => "renamed",
        Control::ForceRelay => "waits no longer",
        Control::Confirm(_) => "done",
        Control::Configure { .. } => "saved",
        Control::Write { .. } => "goes out once the session is free",
        Control::Follow => "follows the new conversation",
        Control::BringBack => "brings the session back",
        Control::CheckDelivery => "looks again",
        Control::SendAgain => "sends it again",
        Control::Drop => "dropped",
        Control::ByHand => "paste it yourself",
        Control::Stop => "stopped",
        Control::RunOn => "runs on",
        Control::Discard => "removed",
    }
}
