//! The transports by themselves, without the driver that decides when to send.

use tokio::sync::mpsc::{Receiver, channel};
use trellis::agent::Transports;
use trellis::driver::ports::{Agents, Comeback, Job, Outcome};
use trellis::machine::Delivery;
use trellis::model::ids::{EntryId, RecordKey, RunId, SessionKey, SessionRef};
use trellis::model::reach::{InFlight, ProbeAsk, Reach, SendReport};
use trellis::supervise::Supervisor;

use super::rig::Rig;

/// The transports as the driver has them.
pub struct Port {
    transports: Transports,
    outcomes: Receiver<Outcome>,
}

impl Port {
    /// Those of a rig.
    pub fn new(rig: &Rig) -> Self {
        let (sender, outcomes) = channel(16);
        Self { transports: Transports::new(rig.settings(), sender, Supervisor::new()), outcomes }
    }

    /// Looks at a session.
    pub fn probe(&mut self, session: &SessionKey, in_flight: Option<&InFlight>) -> Reach {
        self.transports.begin(Job::Probe(ProbeAsk {
            session: session.clone(),
            in_flight: in_flight.cloned(),
            last_seen: None,
        }));
        match self.outcome() {
            Some(Outcome::Probed(key, reach)) if key == *session => *reach,
            other => panic!("no observation but {other:?}"),
        }
    }

    /// Opens a session again.
    pub fn bring_back(&mut self, session: &SessionKey, worktree: &str) -> Result<String, String> {
        let SessionKey { agent, session_id } = session.clone();
        let session = SessionRef { agent, worktree: worktree.to_owned(), session_id };
        let comeback = Comeback { session, launch: None, order: "one order".to_owned() };
        self.transports.begin(Job::BringBack(Box::new(comeback)));
        loop {
            match self.outcomes.blocking_recv() {
                Some(Outcome::BroughtBack(_, result)) => return result,
                Some(Outcome::RunsAs(..)) => {}
                other => panic!("nothing was brought back but {other:?}"),
            }
        }
    }

    /// Sends a message to a session, whatever is open in it.
    pub fn send(&mut self, session: &SessionKey, text: &str) -> SendReport {
        let delivery = Delivery {
            entry: EntryId::new("r.1"),
            session: session.clone(),
            text: text.into(),
            prompt_bytes: 0,
            attempt: 1,
            allow_unknown_box: false,
        };
        self.transports.begin(Job::Send(RecordKey::Run(RunId::new("r")), delivery));
        match self.outcome() {
            Some(Outcome::Sent { report, .. }) => report,
            other => panic!("no report but {other:?}"),
        }
    }

    /// The next outcome that answers something; how a session runs is told unasked.
    fn outcome(&mut self) -> Option<Outcome> {
        loop {
            match self.outcomes.blocking_recv() {
                Some(Outcome::RunsAs(..)) => {}
                other => return other,
            }
        }
    }
}
