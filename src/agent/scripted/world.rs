//! Plays a stage in real time: one thread that reads its transcripts, asks the players what is due, appends it, and
//! answers the driver's jobs. It is the transport `scripted`. What is said and when is the players' business.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use jiff::Timestamp;

use crate::agent::Elsewhere;
use crate::clock;
use crate::driver::ports::{Agents, Job, Outcome};
use crate::machine::Delivery;
use crate::model::conversation::Conversation;
use crate::model::ids::{RecordKey, Role, SessionKey};
use crate::model::reach::{
    InputBox, LiveStatus, OnItsWay, ProbeAsk, ProcessFact, Reach, SendReport, Tick, Ticks, Transport,
};
use crate::model::tempo::Tempo;
use crate::supervise::Supervisor;
use crate::transcript::Reader;

use super::home::{Part, Stage};
use super::inbox::Inbox;
use super::player::{Activity, Pending, later};
use super::script::{PersonAct, When};

/// Jobs that may wait for the thread; the driver never has more than a few per session under way.
const JOBS: usize = 256;
/// Without anything due the files are looked at this often: somebody may have written into one by hand.
const IDLE: Duration = Duration::from_secs(1);

/// Told what came of each job.
pub type Report = Box<dyn Fn(Outcome) + Send>;

/// The handle of a playing stage. The play ends when the last one is dropped.
#[derive(Clone, Debug)]
pub struct World {
    orders: SyncSender<Order>,
    sessions: Arc<BTreeSet<SessionKey>>,
}

impl Agents for World {
    /// Never blocks: a job that finds no room is dropped, and the driver's tick asks again.
    fn begin(&mut self, job: Job) {
        if let Err(TrySendError::Full(_)) = self.orders.try_send(Order::Job(job)) {
            tracing::warn!("the scripted agents are behind; a job was dropped");
        }
    }
}

impl Elsewhere for World {
    fn plays(&self, session: &SessionKey) -> bool {
        self.sessions.contains(session)
    }
}

enum Order {
    Job(Job),
    PersonMayAct,
    /// Nothing more is played or written; whoever asks is told when that is so.
    End(SyncSender<()>),
}

impl World {
    /// Starts the thread. The scripted person waits until [`World::let_person_act`].
    ///
    /// # Errors
    /// A sentence: a transcript cannot be opened, or there is no thread left.
    pub fn start(stage: &Stage, tempo: Tempo, supervisor: &Supervisor, report: Report) -> Result<Self, String> {
        let mut seats = Vec::new();
        for part in &stage.parts {
            let seat = Seat::take(part.clone());
            seats.push(seat.map_err(|error| format!("can't open {}: {error}", part.transcript.display()))?);
        }
        let sessions = Arc::new(stage.parts.iter().map(Part::key).collect());
        let (orders, inbox) = sync_channel(JOBS);
        let person = stage.person().to_vec();
        let mut play =
            Play { seats, person, tempo, born: stage.created_at, report, person_since: None, told: BTreeMap::new() };
        let stop = supervisor.token();
        let body = move || {
            let ended = loop {
                match play.wait(&inbox) {
                    Heard::Nothing if stop.requested() => break None,
                    Heard::Nothing => {}
                    Heard::NobodyIsLeft => break None,
                    Heard::End(told) => break Some(told),
                }
            };
            // The files are closed before it is said: another process may play from here on.
            drop(play);
            if let Some(told) = ended {
                let _ = told.send(());
            }
        };
        supervisor.thread("scripted", body).map_err(|error| format!("can't start the scripted agents: {error}"))?;
        Ok(Self { orders, sessions })
    }

    /// Ends the play, and returns when nothing more will be written: another process may play then.
    pub fn end(&self) {
        let (tell, told) = sync_channel(1);
        if self.orders.send(Order::End(tell)).is_ok() {
            // An error: it has ended already, by itself.
            let _ = told.recv();
        }
    }

    /// The run is there: the person may begin to type.
    pub fn let_person_act(&self) {
        if self.orders.send(Order::PersonMayAct).is_err() {
            tracing::warn!("the scripted agents have ended; the person types nothing");
        }
    }
}

/// A session, its file as far as it was read, and what was sent to it.
struct Seat {
    part: Part,
    file: File,
    offset: u64,
    reader: Reader,
    inbox: Inbox,
    brought_back: bool,
}

impl Seat {
    fn take(part: Part) -> io::Result<Self> {
        cut_torn_tail(&part.transcript)?;
        let file = OpenOptions::new().read(true).append(true).open(&part.transcript)?;
        let reader = Reader::new(part.player.who.agent);
        let inbox = Inbox::open(part.inbox.clone());
        let mut seat = Self { part, file, offset: 0, reader, inbox, brought_back: false };
        seat.read_on()?;
        let seen = seat.seen();
        seat.inbox.forget_what_was_taken(&seen);
        Ok(seat)
    }

    fn read_on(&mut self) -> io::Result<()> {
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(self.offset))?;
        self.offset += self.file.read_to_end(&mut bytes)? as u64;
        self.reader.push(&bytes);
        Ok(())
    }

    fn seen(&self) -> Arc<Conversation> {
        self.reader.conversation()
    }

    fn is_gone(&self) -> bool {
        let after = self.part.player.actor().gone_after_turns;
        !self.brought_back && after.is_some_and(|turns| self.seen().turns.len() >= turns) && !self.seen().is_open()
    }

    /// Writes what is due. Returns when something will be.
    fn play(&mut self, now: Timestamp, tempo: Tempo) -> io::Result<Option<Timestamp>> {
        self.read_on()?;
        loop {
            if self.is_gone() {
                // What was typed at a program that has ended goes nowhere.
                self.inbox.clear()?;
                return Ok(None);
            }
            let next = self.part.player.next(&self.seen(), self.inbox.pending(), now, tempo);
            if next.lines.is_empty() {
                return Ok(next.wake_at);
            }
            self.file.write_all(next.lines.as_bytes())?;
            self.read_on()?;
            // After the line: what a kill leaves in both is known by the transcript.
            if let Some(place) = next.taken {
                self.inbox.remove(place)?;
            }
        }
    }
}

/// A line that a kill cut in two would swallow the next one.
fn cut_torn_tail(path: &Path) -> io::Result<()> {
    let bytes = std::fs::read(path)?;
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    if whole < bytes.len() {
        OpenOptions::new().write(true).open(path)?.set_len(whole as u64)?;
    }
    Ok(())
}

/// What the play heard while it waited.
enum Heard {
    Nothing,
    NobodyIsLeft,
    End(SyncSender<()>),
}

struct Play {
    seats: Vec<Seat>,
    person: Vec<PersonAct>,
    tempo: Tempo,
    born: Timestamp,
    report: Report,
    /// Since when the person may act.
    person_since: Option<Timestamp>,
    /// Files that could not be written, with what was said of them: once each.
    told: BTreeMap<usize, String>,
}

impl Play {
    /// Plays what is due, then waits for the next thing.
    fn wait(&mut self, inbox: &Receiver<Order>) -> Heard {
        let now = clock::now();
        let mut wake = self.person(now);
        for index in 0..self.seats.len() {
            wake = [wake, self.play(index, now)].into_iter().flatten().min();
        }
        let patience = wake.map_or(IDLE, |at| {
            Duration::try_from(at.duration_since(now)).unwrap_or_default().max(Duration::from_millis(1)).min(IDLE)
        });
        match inbox.recv_timeout(patience) {
            Ok(Order::Job(job)) => self.answer(job, clock::now()),
            Ok(Order::PersonMayAct) => self.person_since = self.person_since.or(Some(clock::now())),
            Ok(Order::End(told)) => return Heard::End(told),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Heard::NobodyIsLeft,
        }
        Heard::Nothing
    }

    fn play(&mut self, index: usize, now: Timestamp) -> Option<Timestamp> {
        let tempo = self.tempo;
        let seat = self.seats.get_mut(index)?;
        match seat.play(now, tempo) {
            Ok(wake) => {
                self.told.remove(&index);
                wake
            }
            Err(error) => {
                let words = format!("can't write {}: {error}", seat.part.transcript.display());
                if self.told.get(&index) != Some(&words) {
                    tracing::error!("{words}");
                    self.told.insert(index, words);
                }
                None
            }
        }
    }

    fn seat(&mut self, key: &SessionKey) -> Option<&mut Seat> {
        self.seats.iter_mut().find(|seat| seat.part.key() == *key)
    }

    fn of_role(&self, role: Role) -> Option<&Seat> {
        self.seats.iter().find(|seat| seat.part.role == Some(role))
    }

    /// What the person types now; when it will be time for the next thing.
    fn person(&mut self, now: Timestamp) -> Option<Timestamp> {
        let since = self.person_since?;
        let mut wake = None;
        for act in self.person.clone() {
            let Some(due) = self.due(&act, since) else { continue };
            if due > now {
                wake = [wake, Some(due)].into_iter().flatten().min();
                continue;
            }
            let seat = self.seats.iter_mut().find(|seat| seat.part.role == Some(act.to));
            if let Some(seat) = seat {
                let turns = seat.seen().turns.len();
                // A disk that refuses costs what a kill would take, no more.
                let _ = seat.inbox.push(Pending { text: act.text.as_str().into(), due: now }, turns);
            }
        }
        wake
    }

    /// When the act is due; `None`: it is done, or its conditions do not hold.
    fn due(&self, act: &PersonAct, since: Timestamp) -> Option<Timestamp> {
        let seat = self.of_role(act.to)?;
        let said = seat.seen().turns.iter().any(|turn| *turn.prompt.text == *act.text)
            || seat.seen().queued.iter().any(|queued| *queued.text == *act.text)
            || seat.inbox.pending().iter().any(|pending| *pending.text == *act.text);
        if said {
            return None;
        }
        let mut from = since;
        for when in &act.when {
            from = from.max(self.held_since(when, since)?);
        }
        Some(later(from, self.tempo.millis(act.after_ms)))
    }

    /// Since when it holds, as far as the transcript says it; `None`: it does not.
    fn held_since(&self, when: &When, since: Timestamp) -> Option<Timestamp> {
        let seen = self.of_role(when.side)?.seen();
        let holds = seen.turns.len() == when.prompts && when.open.is_none_or(|open| open == seen.is_open());
        let turn = seen.newest().filter(|_| holds);
        let at = turn.and_then(|turn| if when.open == Some(false) { turn.ended_at } else { turn.prompt.record.at });
        holds.then(|| at.unwrap_or(since))
    }

    fn answer(&mut self, job: Job, now: Timestamp) {
        let outcome = match job {
            Job::Probe(ask) => self.probe(&ask, now),
            Job::Send(record, delivery) => self.send(record, &delivery, now),
            Job::PressEnter(record, delivery) => {
                // An input box that takes every Enter at once never holds a text of ours.
                let report = report(None, Some("the input box is empty"));
                Some(sent(record, &delivery, true, report))
            }
            Job::BringBack(comeback) => {
                let session = comeback.session;
                let key = session.key();
                self.seat(&key).map(|seat| {
                    seat.brought_back = true;
                    Outcome::BroughtBack(key, Ok(format!("{} is back in its session", session.agent)))
                })
            }
            // The driver of a demo's home starts no agent.
            Job::Git { .. } | Job::Lines { .. } | Job::Clipboard(_) | Job::Launch(_) => None,
        };
        if let Some(outcome) = outcome {
            (self.report)(outcome);
        }
    }

    fn probe(&mut self, ask: &ProbeAsk, now: Timestamp) -> Option<Outcome> {
        let born = self.born;
        let seat = self.seat(&ask.session)?;
        Some(Outcome::Probed(ask.session.clone(), Box::new(reach(seat, ask, now, born))))
    }

    fn send(&mut self, record: RecordKey, delivery: &Delivery, now: Timestamp) -> Option<Outcome> {
        let tempo = self.tempo;
        let seat = self.seat(&delivery.session)?;
        let report = if seat.is_gone() {
            report(None, Some("the program has ended"))
        } else {
            let wait = tempo.millis(seat.part.player.accept_after(&seat.seen()));
            let turns = seat.seen().turns.len();
            match seat.inbox.push(Pending { text: Arc::clone(&delivery.text), due: later(now, wait) }, turns) {
                Ok(()) => report(Some(now), None),
                Err(error) => report(None, Some(&format!("its input can't be kept: {error}"))),
            }
        };
        Some(sent(record, delivery, false, report))
    }
}

fn sent(record: RecordKey, delivery: &Delivery, enter_only: bool, report: SendReport) -> Outcome {
    let (entry, session) = (delivery.entry.clone(), delivery.session.clone());
    Outcome::Sent { record, entry, session, enter_only, report }
}

fn report(last_key_at: Option<Timestamp>, stopped: Option<&str>) -> SendReport {
    let entered = last_key_at.is_some();
    SendReport { last_key_at, entered, stopped: stopped.map(str::to_owned), ..SendReport::default() }
}

/// A scripted agent belongs to its home and not to the process that plays it: it lives since the home was made, goes on
/// with an open turn, and still has what was typed, whoever was killed meanwhile.
fn reach(seat: &Seat, ask: &ProbeAsk, now: Timestamp, born: Timestamp) -> Reach {
    let mut reach = Reach {
        at: now,
        transport: Some(Transport::Scripted),
        process: ProcessFact::Alive { pid: std::process::id(), started_at: Some(born) },
        status: LiveStatus::Idle,
        ticks: Ticks::all_hold(),
        input: InputBox::Empty,
        on_its_way: OnItsWay::No,
        replaced_by: None,
        sign: None,
        seen: None,
        place: "scripted".to_owned(),
        last_words: String::new(),
    };
    if seat.is_gone() {
        let agent = seat.part.player.who.agent;
        reach.transport = None;
        reach.process = ProcessFact::Dead;
        reach.status = LiveStatus::Silent;
        reach.ticks.alive = Tick::Missing(format!("{agent} has ended"));
        return reach;
    }
    match seat.part.player.activity(&seat.seen()) {
        Activity::Idle => {}
        Activity::Busy => reach.status = LiveStatus::Busy,
        Activity::Asking(what) => {
            reach.ticks.no_dialog = Tick::Missing(format!("a dialog is open: {what}"));
            reach.status = LiveStatus::Waiting { what };
        }
    }
    let carried = |text: &str| seat.inbox.pending().iter().any(|pending| *pending.text == *text);
    if ask.in_flight.as_ref().is_some_and(|entry| carried(&entry.text)) {
        reach.on_its_way = OnItsWay::Carried;
    }
    reach
}
