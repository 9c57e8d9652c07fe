//! The clock of the simulated world: the machine sleeps, or somebody sets the time.

use jiff::SignedDuration;

use super::ingredients::Ingredient;
use super::world::World;

impl World {
    pub fn suspend(&mut self) {
        self.jump(Ingredient::Suspended, 60, 8 * 3_600, 1);
    }

    pub fn jump_forward(&mut self) {
        self.jump(Ingredient::JumpForward, 30, 86_400, 1);
    }

    pub fn jump_back(&mut self) {
        self.jump(Ingredient::JumpBack, 30, 86_400, -1);
    }

    fn jump(&mut self, what: Ingredient, low: u64, high: u64, sign: i64) {
        if self.strikes(what) {
            let seconds = i64::try_from(self.between(what, low, high)).unwrap();
            let by = SignedDuration::from_secs(sign * seconds);
            if sign < 0 {
                // The system tells the start of a process by the clock as it is now.
                for agent in &mut self.agents {
                    agent.started_at += by;
                }
            }
            self.shift(by);
        }
    }
}
