//! The agents port of the simulated world: jobs are begun here; what their keys do in a pane is `panes`'.

use std::cell::RefCell;
use std::rc::Rc;

use trellis::driver::ports::{Agents, Job, Outcome};
use trellis::model::ids::Agent;

use super::ingredients::Ingredient;
use super::invariants::Invariant;
use super::panes::Keys;
use super::world::{Happening, World};

/// The port of a driver.
pub struct Hands(pub Rc<RefCell<World>>);

impl Agents for Hands {
    fn begin(&mut self, job: Job) {
        let mut world = self.0.borrow_mut();
        if world.burn() {
            return;
        }
        let epoch = world.epoch;
        let wait = world.rng.between(3, 25);
        match job {
            Job::Probe(ask) => world.after(wait, Happening::Key(epoch, Keys::Probe { ask })),
            Job::Send(record, delivery) => {
                let claude = delivery.session.agent == Agent::Claude;
                world.begun.push((record.clone(), delivery.entry.clone(), false));
                let keys = if claude { Keys::Paste { record, delivery } } else { Keys::Queue { record, delivery } };
                world.after(wait, Happening::Key(epoch, keys));
            }
            Job::PressEnter(record, delivery) => {
                world.begun.push((record.clone(), delivery.entry.clone(), true));
                world.after(wait, Happening::Key(epoch, Keys::Enter { record, delivery, enter_only: true }));
            }
            Job::Git { worktree } => {
                world.after(wait, Happening::Outcome(epoch, Box::new(Outcome::Git { worktree, mark: None })));
            }
            Job::Lines { worktree, base } => {
                let seen = Outcome::Lines { worktree, base, state: None };
                world.after(wait, Happening::Outcome(epoch, Box::new(seen)));
            }
            Job::Clipboard(_) | Job::Launch(_) => {}
            Job::BringBack(comeback) => {
                let key = comeback.session.key();
                let result = match world.side_of(&key).filter(|side| !world.agents[*side].alive) {
                    Some(side) => {
                        world.strikes(Ingredient::BringsBack);
                        world.after(wait, Happening::Revive { side });
                        Ok("it is back".to_owned())
                    }
                    None => Err("it runs, or another conversation took its place".to_owned()),
                };
                let done = Outcome::BroughtBack(key, result);
                world.after(wait + 5, Happening::Outcome(epoch, Box::new(done)));
            }
        }
    }
}

/// The port of a process that only looks: it may observe, and nothing else.
pub struct Glasses(pub Rc<RefCell<World>>);

impl Agents for Glasses {
    fn begin(&mut self, job: Job) {
        if !matches!(job, Job::Probe(_)) {
            self.0.borrow_mut().breaks(Invariant::ExactlyOnce, format!("a viewer began {job:?}"));
        }
    }
}
