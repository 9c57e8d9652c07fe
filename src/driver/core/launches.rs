//! New sessions: the note is saved, then the agent is started, then it is observed until it has come up, waits for a
//! person, or has ended. A session that its agent has not named yet is kept under a name of ours until it is.

use jiff::{SignedDuration, Timestamp};

use super::Core;
use super::acts::not_saved;
use crate::driver::ports::{Agents, Job, Launched, Records, Transcripts};
use crate::machine::launch;
use crate::model::command::{Refusal, Reply};
use crate::model::event::{Decision, Ground};
use crate::model::ids::{Agent, SessionId, SessionKey};
use crate::model::launch::{NewSession, Start, is_unnamed, unnamed};
use crate::model::pair::SCHEMA;
use crate::model::reach::{LiveStatus, ProbeAsk, ProcessFact, Tick, Transport};
use crate::model::session::{Launch, SessionNote};
use crate::projection::{LaunchStage, LaunchView};

/// How often a session that is starting is looked at, and for how long; after that with each tick.
const OFTEN: SignedDuration = SignedDuration::from_secs(1);
const OFTEN_FOR: SignedDuration = SignedDuration::from_secs(90);
/// Launches that are over and still shown.
const SHOWN: usize = 20;

/// The launches of this driver, and those that an earlier one left unnamed.
#[derive(Clone, Debug, Default)]
pub struct Launches {
    /// By the id they were started under, in the order of their start.
    all: Vec<Launching>,
}

#[derive(Clone, Debug)]
struct Launching {
    view: LaunchView,
    since: Timestamp,
    /// The order that waits for the window.
    ticket: Option<u64>,
}

impl Launches {
    /// As they are shown.
    #[must_use]
    pub fn views(&self) -> Vec<LaunchView> {
        self.all.iter().map(|one| one.view.clone()).collect()
    }

    /// The sessions that have not come up yet.
    pub fn open(&self) -> impl Iterator<Item = &SessionKey> {
        self.all.iter().filter(|one| !one.view.stage.is_over()).map(|one| &one.view.asked)
    }

    fn get(&mut self, asked: &SessionKey) -> Option<&mut Launching> {
        self.all.iter_mut().find(|one| one.view.asked == *asked && !one.view.stage.is_over())
    }

    fn add(&mut self, asked: SessionKey, ticket: Option<u64>, since: Timestamp) {
        let over = self.all.iter().filter(|one| one.view.stage.is_over()).count();
        if over >= SHOWN
            && let Some(at) = self.all.iter().position(|one| one.view.stage.is_over())
        {
            self.all.remove(at);
        }
        let view = LaunchView {
            session: asked.clone(),
            asked,
            place: String::new(),
            stage: LaunchStage::Starting,
            words: String::new(),
        };
        self.all.push(Launching { view, since, ticket });
    }
}

impl<R: Records, T: Transcripts, A: Agents> Core<R, T, A> {
    /// Starts a session. The order is answered when its window is open, or why it is not.
    pub(super) fn start_session(&mut self, ticket: u64, order: &NewSession, now: Timestamp) {
        if let Err(refusal) = self.begin_session(ticket, order, now) {
            self.replies.push_back((ticket, Reply::Refused(refusal)));
        }
    }

    fn begin_session(&mut self, ticket: u64, order: &NewSession, now: Timestamp) -> Result<(), Refusal> {
        if let Some(why) = &self.options.starts_nothing {
            return Err(Refusal::not_now(why.clone()));
        }
        launch::check(order, self.options.as_root)?;
        let session_id = match order.agent {
            Agent::Claude => SessionId::new(self.ids.uuid()),
            Agent::Codex => unnamed(&self.ids.next(now)),
        };
        let session = SessionKey { agent: order.agent, session_id };
        let launch = Launch {
            worktree: order.worktree.clone(),
            permission_mode: order.permission_mode.clone(),
            model: order.model.clone(),
            ..Launch::default()
        };
        let name = order.name.as_deref().map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned);
        let note = SessionNote {
            schema: SCHEMA,
            name,
            transport: Some(order.transport),
            launch: Some(launch.clone()),
            ..SessionNote::default()
        };
        self.save_note(&session, note)?;
        if order.transport == Transport::Headless && order.prompt.is_none() {
            let words = format!("{}'s session is kept: its first message starts it, without a window", order.agent);
            self.launches.add(session.clone(), None, now);
            self.over(&session, LaunchStage::Up, words.clone());
            self.log_launch(words.clone(), "its note was saved", now);
            self.replies.push_back((ticket, Reply::Done { record: None, note: words }));
            return Ok(());
        }
        self.launches.add(session.clone(), Some(ticket), now);
        let start = Start { session, transport: order.transport, launch, prompt: order.prompt.clone() };
        self.agents.begin(Job::Launch(Box::new(start)));
        Ok(())
    }

    fn save_note(&mut self, session: &SessionKey, note: SessionNote) -> Result<(), Refusal> {
        self.records.save_session(session, &note).map_err(|error| not_saved(&error))?;
        self.keep_note(session.clone(), note);
        self.screen.outdate();
        Ok(())
    }

    /// The window of a new session is open, or is not.
    pub(super) fn launched(&mut self, asked: &SessionKey, result: Result<Launched, String>, now: Timestamp) {
        let ticket = self.launches.get(asked).and_then(|one| one.ticket.take());
        let reply = match result {
            Ok(launched) => {
                let note = self.sessions.get(asked).map(|known| known.facts.note.clone()).unwrap_or_default();
                let note = SessionNote { launch: Some(launched.launch.clone()), ..note };
                // What was chosen is kept already; without the program's own words it is looked for anew.
                if let Err(refusal) = self.save_note(asked, note) {
                    self.notice(refusal.message, true, now);
                }
                let words = format!("{} starts {}", asked.agent, launched.place);
                if let Some(one) = self.launches.get(asked) {
                    one.view.place.clone_from(&launched.place);
                    one.view.words.clone_from(&words);
                }
                self.log_launch(words.clone(), "its program was started", now);
                match launched.named {
                    None => self.observe(asked, now),
                    // Only one without a window names its session by itself.
                    Some(id) => {
                        let words = format!("{} has its first message, {}", asked.agent, launched.place);
                        self.named(asked, id, words, "it said so itself", now);
                    }
                }
                Reply::Done { record: None, note: words }
            }
            Err(why) => {
                let words = format!("can't start {}: {why}", asked.agent);
                self.over(asked, LaunchStage::Ended, words.clone());
                self.forget(asked, now);
                self.log_launch(words.clone(), "nothing was started", now);
                Reply::Refused(Refusal::not_now(words))
            }
        };
        match (ticket, reply) {
            (Some(ticket), reply) => self.replies.push_back((ticket, reply)),
            (None, Reply::Refused(refusal)) => self.notice(refusal.message, true, now),
            (None, Reply::Done { .. }) => {}
        }
    }

    /// What a look at a session that is starting showed.
    pub(super) fn follow_launch(&mut self, asked: &SessionKey, now: Timestamp) {
        let Some(one) = self.launches.get(asked).filter(|one| one.ticket.is_none()) else { return };
        let since = one.since;
        let Some(reach) = self.sessions.get(asked).and_then(|known| known.facts.reach.clone()) else { return };
        if let Some((id, proof)) = reach.replaced_by.as_ref().filter(|_| is_unnamed(&asked.session_id)) {
            let words = format!("{} is up in {}", asked.agent, reach.place);
            return self.named(asked, id.clone(), words, proof, now);
        }
        let agent = asked.agent;
        match (&reach.process, &reach.status) {
            (ProcessFact::Dead, _) => {
                let why = match &reach.ticks.alive {
                    Tick::Missing(why) => why.clone(),
                    Tick::Holds => "it is not running".to_owned(),
                };
                let words = format!("{agent} did not come up: {why}");
                self.over(asked, LaunchStage::Ended, words.clone());
                self.forget(asked, now);
                self.log_launch(words.clone(), "its process has ended", now);
                self.notice(words, true, now);
                return;
            }
            (ProcessFact::Alive { .. }, LiveStatus::Waiting { what }) => {
                let words = format!("{agent} waits for you in {}: {what}", reach.place);
                self.tell_launch(asked, LaunchStage::Waits, words, now);
            }
            (ProcessFact::Alive { .. }, LiveStatus::Idle | LiveStatus::Busy) if is_unnamed(&asked.session_id) => {
                let words = format!("{agent} is up in {}; its session begins with its first message", reach.place);
                self.tell_launch(asked, LaunchStage::Unnamed, words, now);
            }
            (ProcessFact::Alive { .. }, LiveStatus::Idle | LiveStatus::Busy) => {
                let words = format!("{agent} is up in {}", reach.place);
                self.tell_launch(asked, LaunchStage::Up, words, now);
                return;
            }
            _ => {}
        }
        if now.duration_since(since) < self.options.tempo.wait(OFTEN_FOR)
            && let Some(known) = self.sessions.get_mut(asked)
        {
            let at = now.checked_add(self.options.tempo.wait(OFTEN)).unwrap_or(now);
            known.look_again(at, ProbeAsk { session: asked.clone(), in_flight: None, last_seen: None });
        }
    }

    /// Its agent has named the session: what is kept about it goes over to that name.
    fn named(&mut self, asked: &SessionKey, id: SessionId, words: String, proof: &str, now: Timestamp) {
        let session = SessionKey { agent: asked.agent, session_id: id };
        if session == *asked {
            self.tell_launch(asked, LaunchStage::Up, words, now);
            return self.observe(asked, now);
        }
        let ours = self.sessions.get(asked).map(|known| known.facts.note.clone()).unwrap_or_default();
        let theirs = self.sessions.get(&session).map(|known| known.facts.note.clone()).unwrap_or_default();
        let note = SessionNote { name: theirs.name.or(ours.name), put_away_at: theirs.put_away_at, ..ours };
        if let Err(refusal) = self.save_note(&session, note) {
            // It comes again with the next look.
            self.notice(refusal.message, true, now);
            return;
        }
        if let Some(one) = self.launches.get(asked) {
            one.view.session = session.clone();
        }
        self.tell_launch(asked, LaunchStage::Up, words, now);
        self.log_launch(format!("{asked} is {session}"), proof, now);
        self.forget(asked, now);
        self.find_sessions();
        self.observe(&session, now);
    }

    /// Removes what is kept about a session that is none.
    fn forget(&mut self, session: &SessionKey, now: Timestamp) {
        if self.found.iter().any(|found| found.session.is(session)) {
            return;
        }
        if let Err(error) = self.records.forget_session(session) {
            self.notice(error.to_string(), true, now);
        }
        self.sessions.remove(session);
        self.touched.remove(session);
        self.screen.outdate();
    }

    fn over(&mut self, asked: &SessionKey, stage: LaunchStage, words: String) {
        if let Some(one) = self.launches.get(asked) {
            one.view.words = words;
            one.view.stage = stage;
        }
        self.screen.outdate();
    }

    fn tell_launch(&mut self, asked: &SessionKey, stage: LaunchStage, words: String, now: Timestamp) {
        let is_news = self.launches.get(asked).is_some_and(|one| one.view.words != words);
        self.over(asked, stage, words.clone());
        if is_news {
            self.notice(words, false, now);
        }
    }

    fn log_launch(&mut self, what: String, evidence: &str, now: Timestamp) {
        self.tell(
            Decision {
                at: now,
                record: None,
                what,
                evidence: evidence.to_owned(),
                ground: Some(Ground::Seen),
                decided: true,
            },
            now,
        );
    }

    /// Sessions that an earlier driver left without a name are looked after again.
    pub(super) fn take_up_launches(&mut self, now: Timestamp) {
        let left = self.sessions.iter().filter(|(key, known)| is_unnamed(&key.session_id) && known.noted);
        let left: Vec<SessionKey> = left.map(|(key, _)| key.clone()).collect();
        for asked in left {
            if self.launches.get(&asked).is_none() {
                self.launches.add(asked, None, now);
            }
        }
    }

    /// What a session's process was started with is kept for the sessions of records: it is opened again with it.
    pub(super) fn runs_as(&mut self, session: &SessionKey, launch: Launch, now: Timestamp) {
        let is_used = self.ledger.active_with(session).into_iter().next().is_some();
        let Some(known) = self.sessions.get(session) else { return };
        let note = &known.facts.note;
        let differs = note.launch.as_ref().is_none_or(|kept| {
            (&kept.argv, &kept.permission_mode, &kept.model) != (&launch.argv, &launch.permission_mode, &launch.model)
        });
        let is_ours = note.launch.is_some() && note.transport.is_some();
        if !self.drives() || !is_used || is_ours || !differs {
            return;
        }
        let note = SessionNote { schema: note.schema.max(SCHEMA), launch: Some(launch), ..note.clone() };
        if let Err(refusal) = self.save_note(session, note) {
            self.notice(refusal.message, true, now);
        }
    }
}
