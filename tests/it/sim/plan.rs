//! What one simulated world is like: drawn from the seed, printed with a failure.

use trellis::model::ids::Agent;

use super::rng::Rng;

/// One world.
#[derive(Clone, Debug)]
pub struct Plan {
    pub seed: u64,
    pub implementer: Agent,
    pub reviewer: Agent,
    /// Per phase: how many times the reviewer finds something before it approves.
    pub findings: Vec<u32>,
    /// All answers of a side are the same text.
    pub identical: bool,
    /// The reviewer sometimes approves in a way that is a near miss.
    pub near_misses: bool,
    /// Percent of send sequences whose paste, or whose Enter, is lost.
    pub lost_keys: u64,
    /// Percent of prompts that are recorded up to 6 s late.
    pub late_records: u64,
    /// Percent of turns that fail in a passing way, or end interrupted, or without an answer.
    pub bad_turns: u64,
    /// Percent of turns after which a background agent reports (Claude).
    pub reports: u64,
    /// Percent of file changes whose hint is lost.
    pub lost_hints: u64,
    /// Mean seconds between a person's doings; 0: nobody touches the panes.
    pub person_every: u64,
    /// Kills at most.
    pub kills: u32,
    /// Percent of saves that the disk refuses.
    pub disk_faults: u64,
    /// The person begins phase 1 (else `first_phase: ask`).
    pub person_begins: bool,
    /// Relays at most per attempt.
    pub max_rounds: u32,
}

impl Plan {
    pub fn draw(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let agent = |rng: &mut Rng| if rng.chance(60) { Agent::Claude } else { Agent::Codex };
        let phases = rng.between(1, 4);
        let calm = rng.chance(30);
        Self {
            seed,
            implementer: agent(&mut rng),
            reviewer: agent(&mut rng),
            findings: (0..phases).map(|_| u32::try_from(rng.between(0, 3)).unwrap()).collect(),
            identical: rng.chance(20),
            near_misses: rng.chance(25),
            lost_keys: if calm { 0 } else { rng.between(0, 15) },
            late_records: if calm { 0 } else { rng.between(0, 20) },
            bad_turns: if calm { 0 } else { rng.between(0, 10) },
            reports: if calm { 0 } else { rng.between(0, 10) },
            lost_hints: rng.between(0, 60),
            person_every: if calm || rng.chance(40) { 0 } else { rng.between(30, 400) },
            kills: u32::try_from(rng.between(0, 6)).unwrap(),
            disk_faults: if rng.chance(25) { rng.between(1, 20) } else { 0 },
            person_begins: rng.chance(40),
            max_rounds: 10,
        }
    }

    /// Nothing but time and crashes happens: the run must complete without a person.
    pub fn is_fair(&self) -> bool {
        self.person_every == 0 && self.bad_turns == 0 && self.lost_keys == 0
    }
}
