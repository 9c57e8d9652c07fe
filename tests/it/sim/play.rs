//! One world with its driver, played from its beginning to its end: inputs, kills, restarts, a second process, the
//! person's answers. What they do to the world is in its rooms, what must hold in `invariants`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use jiff::{SignedDuration, Timestamp};
use trellis::driver::core::{Core, Input, Options};
use trellis::driver::viewer::{LookOnly, ReadRecords};
use trellis::model::command::{Command, Control, NewRun, Reply};
use trellis::model::config::{FirstPhase, RunConfig};
use trellis::model::ids::{RecordKey, RunId};
use trellis::model::pair::{PairRecord, PauseReason};
use trellis::model::run::{RunRecord, RunState, RunStop};
use trellis::projection::DriverFact;

use super::agents::Prompt;
use super::disk::{Disk, Shelf};
use super::eyes::Eyes;
use super::hands::{Glasses, Hands};
use super::ingredients::Ingredient;
use super::invariants::{Invariant, Violation, endings, live, waits};
use super::person;
use super::plan::Plan;
use super::planted::Planted;
use super::viewer::Window;
use super::world::{Happening, IMPLEMENTER, World};

type Driver = Core<Shelf, Eyes, Hands>;
type Viewer = Core<ReadRecords<Window>, Eyes, LookOnly<Glasses>>;

/// Lived time after which a run must have come to its end.
const LONG_ENOUGH: SignedDuration = SignedDuration::from_hours(8);
/// Lived time after which what is still on its way has arrived.
const ARRIVED: SignedDuration = SignedDuration::from_secs(400);
/// Inputs that a world may take.
const STEPS: u64 = 200_000;
/// Broken promises after which a world need not go on.
const ENOUGH: usize = 5;
/// Runs that a person begins at most in one world, one after the other.
const RUNS: u32 = 4;

/// One world with its driver.
pub struct Simulation {
    world: Rc<RefCell<World>>,
    disk: Rc<RefCell<Disk>>,
    driver: Option<Driver>,
    viewer: Option<Viewer>,
    /// The newest run.
    run: Option<RunId>,
    runs_begun: u32,
    /// A run was ordered of the driver that lives.
    asked: bool,
    kills_left: u32,
    help_is_near: bool,
    /// What the person was asked last, and how often in a row.
    asked_for: (Option<PauseReason>, u32),
    wakes: waits::Wakes,
    steps: u64,
    /// Broken promises after which the world need not go on.
    enough: usize,
}

/// What came of it.
pub struct Report {
    pub wrong: Vec<Violation>,
    pub timeline: Vec<String>,
    pub struck: BTreeMap<Ingredient, u32>,
    pub completed: bool,
    pub kills: u32,
    pub relays: usize,
    /// Messages that went out again before a record that came later than the grace.
    pub beyond_grace: u32,
    pub steps: u64,
}

impl Simulation {
    pub fn new(plan: Plan, planted: Option<Planted>) -> Self {
        let kills_left = plan.kills;
        let world = World::new(plan);
        Self {
            world: Rc::new(RefCell::new(world)),
            disk: Rc::new(RefCell::new(Disk::new(planted))),
            driver: None,
            viewer: None,
            run: None,
            runs_begun: 0,
            asked: false,
            kills_left,
            help_is_near: false,
            asked_for: (None, 0),
            wakes: waits::Wakes::default(),
            steps: 0,
            enough: if planted.is_some() { 1 } else { ENOUGH },
        }
    }

    fn now(&self) -> Timestamp {
        self.world.borrow().now
    }

    fn start_driver(&mut self) {
        if self.driver.is_some() {
            return;
        }
        {
            let mut world = self.world.borrow_mut();
            world.epoch += 1;
            world.dead = false;
            if self.kills_left > 0 {
                self.kills_left -= 1;
                if world.strikes(Ingredient::KillAtBoundary) {
                    let calls = world.between(Ingredient::KillAtBoundary, 0, 60);
                    world.fuse = Some(calls);
                } else if world.strikes(Ingredient::KillBetween) {
                    let wait = world.between(Ingredient::KillBetween, 100, 200_000);
                    let epoch = world.epoch;
                    world.after(wait, Happening::Kill(epoch));
                }
            }
            world.say("the driver starts".into());
            let power_lost = world.epoch > 1 && world.strikes(Ingredient::PowerLoss);
            self.disk.borrow_mut().restart(power_lost, || world.between(Ingredient::PowerLoss, 0, 1) == 1);
        }
        let (now, epoch) = (self.now(), self.world.borrow().epoch);
        let shelf = Shelf::open(self.world.clone(), self.disk.clone());
        let options = Options { seed: u64::from(epoch), ..Options::default() };
        let core = Core::start(shelf, Eyes::new(self.world.clone()), Hands(self.world.clone()), options, now);
        self.driver = Some(core);
        self.after_input();
    }

    /// After each input: a dead driver is dropped, needs are noticed, promises that must hold at every moment are checked.
    fn after_input(&mut self) {
        if self.world.borrow().dead {
            return self.driver_is_dead();
        }
        let Some(driver) = &mut self.driver else { return };
        driver.ports().0.catch_up();
        if self.world.borrow().dead {
            return self.driver_is_dead();
        }
        driver.take_events();
        for (_, reply) in driver.take_replies() {
            self.world.borrow_mut().say(format!("answer: {reply:?}"));
            self.asked &= !matches!(reply, Reply::Refused(_));
        }
        // A kill may have come between the save and the answer: the disk says whether there is a run.
        self.notice_new_run();
        let Some(driver) = &self.driver else { return };
        {
            let (disk, mut world) = (self.disk.borrow(), self.world.borrow_mut());
            record_equals_memory(driver, &disk, &mut world);
            live::begins(&disk, &mut world);
            live::no_orphan(&disk, &mut world);
            world.open_wait = live::open_wait(&disk);
        }
        self.notice_need();
    }

    fn driver_is_dead(&mut self) {
        if self.driver.take().is_none() {
            return;
        }
        self.asked = false;
        let mut world = self.world.borrow_mut();
        world.fuse = None;
        let away = world.rng.chance(25);
        let mut wait = if away { world.rng.between(20_000, 600_000) } else { world.rng.between(50, 20_000) };
        if self.viewer.is_some() && world.strikes(Ingredient::TakenOver) {
            wait = 50;
        }
        world.after(wait, Happening::Restart);
    }

    fn notice_new_run(&mut self) {
        let known = self.run.clone();
        let disk = self.disk.borrow();
        let newest = disk.runs.values().max_by_key(|run| (run.is_active(), run.created_at)).map(|run| run.id.clone());
        drop(disk);
        if newest.is_none() || newest == known {
            return;
        }
        self.run = newest;
        self.runs_begun = u32::try_from(self.disk.borrow().runs.len()).unwrap();
        self.asked = true;
        let mut world = self.world.borrow_mut();
        if self.runs_begun > 1 {
            world.strikes(Ingredient::SecondRun);
            let findings = world.plan.findings.clone();
            for agent in &mut world.agents {
                agent.brain.more(&findings);
            }
        }
        if world.plan.person_begins || self.runs_begun > 1 {
            world.submit(IMPLEMENTER, Prompt::new("please do the next phase", true));
        }
    }

    /// The person sees after a while that something is asked of them.
    fn notice_need(&mut self) {
        let Some(reason) = self.need().filter(|_| !self.help_is_near) else { return };
        self.help_is_near = true;
        let mut world = self.world.borrow_mut();
        if world.plan.is_fair() {
            world.breaks(Invariant::FairAgentFinishes, format!("a person is asked in a fair world: {reason:?}"));
        }
        let wait = world.rng.between(2_000, 60_000);
        world.after(wait, Happening::Help);
    }

    fn need(&self) -> Option<PauseReason> {
        self.of_run(person::asked)?
    }

    /// Looks something up in the newest run and its pair.
    fn of_run<T>(&self, look: impl FnOnce(&RunRecord, Option<&PairRecord>) -> T) -> Option<T> {
        let disk = self.disk.borrow();
        let run = disk.runs.get(self.run.as_ref()?)?;
        Some(look(run, run.current_pair_id.as_ref().and_then(|id| disk.pairs.get(id))))
    }

    /// The person begins a run where none goes: the first, or one that goes on from the one that has stopped.
    fn begin_run(&mut self) {
        self.asked = true;
        if let Some(run) = self.of_run(|run, _| run.id.clone()) {
            return self.order(Command::Control { target: RecordKey::Run(run), expect: None, control: Control::RunOn });
        }
        let (implementer, reviewer, person_begins, max_rounds) = {
            let world = self.world.borrow();
            let [implementer, reviewer] = &world.agents;
            let plan = &world.plan;
            (implementer.session().clone(), reviewer.session().clone(), plan.person_begins, plan.max_rounds)
        };
        let first_phase = if person_begins { FirstPhase::Next } else { FirstPhase::Ask };
        let config = RunConfig { first_phase, max_rounds, ..RunConfig::default() };
        self.order(Command::CreateRun(NewRun { implementer, reviewer, config }));
    }

    fn order(&mut self, command: Command) {
        self.look_at_screen();
        self.input(Input::Command { ticket: 1, command: Box::new(command) });
    }

    fn control(&mut self, control: Control) {
        let Some(run) = self.run.clone() else { return };
        self.world.borrow_mut().say(format!("person orders {}", control.name()));
        // What the person had before their eyes may pass from now on.
        self.disk.borrow_mut().accounted = self.world.borrow().typed.len();
        self.order(Command::Control { target: RecordKey::Run(run), expect: None, control });
    }

    /// The screen is drawn, and says of each wait what ends it.
    fn look_at_screen(&mut self) {
        let now = self.now();
        if let Some(driver) = &mut self.driver {
            let projection = driver.projection(now);
            waits::named(&projection, &mut self.world.borrow_mut());
        }
    }

    /// The person looks at the screen and answers what it asks for.
    fn help(&mut self) {
        self.help_is_near = false;
        let Some(reason) = self.need().filter(|_| self.driver.is_some()) else { return self.notice_need() };
        let times = if self.asked_for.0 == Some(reason) { self.asked_for.1 + 1 } else { 1 };
        self.asked_for = (Some(reason), times);
        let control = person::answer(&mut self.world.borrow_mut(), reason, times);
        self.control(control);
        self.notice_need();
    }

    /// A timed ingredient strikes, if it can.
    fn fate(&mut self, what: Ingredient) {
        {
            let mut world = self.world.borrow_mut();
            world.schedule_fate(what);
            if world.is_calm() {
                return world.tidy_up();
            }
        }
        let side = usize::try_from(self.world.borrow_mut().between(what, 0, 1)).unwrap();
        let mut world = self.world.borrow_mut();
        match what {
            Ingredient::RotatedFile => world.rotate(side),
            Ingredient::LostTail => world.lose_tail(side),
            Ingredient::Crash => world.crash(side),
            Ingredient::Cleared => world.clear(side),
            Ingredient::PressesEsc => world.escape(side),
            Ingredient::Dialog => world.dialog_opens(),
            Ingredient::BoxUnknown => world.box_hides(),
            Ingredient::Types => world.types(),
            Ingredient::Drafts => world.drafts(),
            Ingredient::Suspended => world.suspend(),
            Ingredient::JumpForward => world.jump_forward(),
            Ingredient::JumpBack => world.jump_back(),
            Ingredient::FullDisk if world.strikes(what) => {
                world.disk_is_full = true;
                let wait = world.between(what, 5_000, 300_000);
                world.after(wait, Happening::DiskHasRoom);
            }
            Ingredient::SilentWatcher if world.strikes(what) => {
                let wait = i64::try_from(world.between(what, 60, 1_800)).unwrap();
                world.watcher.silent_until = Some(world.now + SignedDuration::from_secs(wait));
            }
            Ingredient::FloodedWatcher if world.strikes(what) => world.watcher.floods = 50,
            Ingredient::Viewer if self.viewer.is_none() && world.strikes(what) => {
                if self.driver.is_some() {
                    world.strikes(Ingredient::LockRefused);
                }
                drop(world);
                self.open_viewer();
            }
            _ => {
                drop(world);
                self.whim(what);
            }
        }
    }

    fn whim(&mut self, what: Ingredient) {
        if self.driver.is_none() {
            return;
        }
        let control = self.of_run(|run, _| person::whim(&mut self.world.borrow_mut(), what, run));
        if let Some(control) = control.flatten() {
            self.control(control);
        }
    }

    /// A second process on the home: it may look, and not drive.
    fn open_viewer(&mut self) {
        let window = Window::open(self.world.clone(), &self.disk.borrow().files);
        let options =
            Options { driver: DriverFact::Elsewhere { pid: Some(1), background: false }, ..Options::default() };
        let (eyes, glasses) = (Eyes::new(self.world.clone()), LookOnly(Glasses(self.world.clone())));
        let now = self.now();
        self.viewer = Some(Core::start(ReadRecords::new(window), eyes, glasses, options, now));
        self.world.borrow_mut().after(5_000, Happening::Look);
    }

    /// The second process looks again; in the end it goes.
    fn viewer_looks(&mut self) {
        let now = self.now();
        let Some(viewer) = &mut self.viewer else { return };
        if viewer.ports().0.refresh() {
            viewer.reload(now);
        }
        viewer.input(Input::Tick, now);
        let wait = self.world.borrow_mut().between(Ingredient::Viewer, 1, 120);
        if wait > 100 {
            self.viewer = None;
        } else {
            self.world.borrow_mut().after(wait * 1_000, Happening::Look);
        }
    }

    /// Whether enough is known to be wrong: a world that breaks one promise often breaks it again and again.
    fn is_broken(&self) -> bool {
        self.world.borrow().wrong.len() >= self.enough
    }

    /// Whether the newest run has stopped.
    fn has_stopped(&self) -> bool {
        self.driver.is_some() && self.of_run(|run, _| run.state == RunState::Stopped) == Some(true)
    }

    /// Whether a run is to be begun now: the first; one more where the plan has one; and another behind every run that
    /// had to be stopped.
    fn wants_run(&self) -> bool {
        if self.asked || self.driver.is_none() {
            return false;
        }
        let second = self.runs_begun == 1 && self.world.borrow().plan.has(Ingredient::SecondRun);
        let more = |run: &RunRecord| run.stop_reason != Some(RunStop::Completed) || second;
        match self.of_run(|run, _| run.state == RunState::Stopped && more(run)) {
            Some(more) => more && self.runs_begun < RUNS,
            None => self.run.is_none(),
        }
    }

    fn lived(&self) -> SignedDuration {
        self.world.borrow().lived()
    }

    /// Plays to the end, or for long enough.
    pub fn play(mut self) -> Report {
        self.start_driver();
        while self.lived() < LONG_ENOUGH && self.steps < STEPS && !self.is_broken() {
            self.steps += 1;
            if self.has_stopped() {
                self.asked = false;
                if !self.wants_run() {
                    break;
                }
            }
            if self.wants_run() {
                self.begin_run();
            }
            self.next();
        }
        let over = self.has_stopped();
        let after = self.lived() + ARRIVED;
        while self.lived() < after && self.steps < STEPS + 20_000 {
            self.steps += 1;
            self.next();
        }
        self.finish(over)
    }

    fn finish(mut self, over: bool) -> Report {
        let now = self.now();
        let waits: Vec<String> = match &mut self.driver {
            Some(driver) if !over => driver.projection(now).runs.iter().map(|run| format!("{:?}", run.wait)).collect(),
            _ => Vec::new(),
        };
        let disk = self.disk.borrow();
        let (runs, pairs): (Vec<_>, Vec<_>) =
            (disk.runs.values().cloned().collect(), disk.pairs.values().cloned().collect());
        let mut world = self.world.borrow_mut();
        for (invariant, what) in endings::check(&world, &runs, &pairs, &disk.moved_out()) {
            world.breaks(invariant, what);
        }
        let completed = runs.iter().any(|run| run.stop_reason == Some(RunStop::Completed));
        let went_on = world.wrong.len() < self.enough;
        if went_on && (!over || (world.plan.is_fair() && !completed)) {
            let standing: Vec<String> =
                runs.iter().map(|run| format!("{:?}/{:?}/{:?}", run.state, run.step, run.paused_reason)).collect();
            let what = format!("it stands at {standing:?} after {} steps: {waits:?}", self.steps);
            world.breaks(Invariant::FairAgentFinishes, what);
        }
        Report {
            wrong: world.wrong.clone(),
            timeline: world.timeline.clone(),
            struck: world.struck.clone(),
            completed,
            steps: self.steps,
            beyond_grace: world.beyond_grace,
            kills: world.plan.kills - self.kills_left,
            relays: pairs.iter().map(|pair| pair.round_count as usize).sum(),
        }
    }

    /// The earliest thing of all happens.
    fn next(&mut self) {
        let agenda = self.world.borrow().next_at();
        let deadline = self.driver.as_ref().and_then(Core::deadline);
        let Some(at) = [agenda, deadline].into_iter().flatten().min() else {
            // Nothing will ever happen by itself: time goes on all the same.
            self.world.borrow_mut().now += SignedDuration::from_secs(15);
            return;
        };
        let now = {
            let mut world = self.world.borrow_mut();
            world.now = world.now.max(at);
            world.now
        };
        if agenda.is_some_and(|at| at <= now) {
            return self.agenda();
        }
        self.input(Input::Tick);
        self.look_at_a_still_world();
        let mut world = self.world.borrow_mut();
        if self.wakes.woke(now) {
            let wakes: Vec<Timestamp> = self.driver.iter().flat_map(|driver| driver.books().wakes()).collect();
            world.breaks(Invariant::NoBusyWake, format!("records want {wakes:?}"));
            world.now += SignedDuration::from_secs(1);
        }
    }

    /// Nothing has moved for a while: the person looks at what the screen says.
    fn look_at_a_still_world(&mut self) {
        let now = self.now();
        if self.world.borrow().still_for() < SignedDuration::from_mins(5) {
            return;
        }
        let Some(driver) = &mut self.driver else { return };
        let projection = driver.projection(now);
        let mut world = self.world.borrow_mut();
        let still = waits::comes(&projection, &mut world);
        if still == waits::Still::PaneIsHeld {
            world.free_panes();
        }
        if still == waits::Still::PromptIsDue {
            if world.struck.contains_key(&Ingredient::LostTail) && world.rng.chance(30) {
                drop(world);
                return self.control(Control::ForceRelay);
            }
            let side = usize::try_from(world.rng.between(0, 1)).unwrap();
            let awaited = world.open_wait.unwrap_or(IMPLEMENTER);
            let side = if world.struck.contains_key(&Ingredient::LostTail) { side } else { awaited };
            world.submit(side, Prompt::new("please do the next phase", true));
        }
    }

    fn agenda(&mut self) {
        let Some(what) = self.world.borrow_mut().take_next() else { return };
        let (epoch, dead) = (self.world.borrow().epoch, self.driver.is_none());
        match what {
            Happening::Outcome(of, outcome) if of == epoch && !dead => self.input(Input::Outcome(outcome)),
            Happening::Key(of, keys) if of == epoch && !dead => self.world.borrow_mut().key(keys),
            Happening::Outcome(..) | Happening::Key(..) => {}
            Happening::Kill(of) => {
                if of == epoch && self.driver.is_some() {
                    let mut world = self.world.borrow_mut();
                    world.dead = true;
                    world.say("KILL between two inputs".into());
                    drop(world);
                    self.after_input();
                }
            }
            Happening::Restart => self.start_driver(),
            Happening::Help => self.help(),
            Happening::Wake => self.input(Input::Tick),
            Happening::Look => self.viewer_looks(),
            Happening::Fate(what) => self.fate(what),
            what => {
                self.world.borrow_mut().happen(what);
                self.hint();
            }
        }
    }

    /// The watcher tells what changed, once or, beside itself, often.
    fn hint(&mut self) {
        let (changed, floods) = {
            let mut world = self.world.borrow_mut();
            world.watcher.floods = world.watcher.floods.saturating_sub(1);
            (!world.changed.is_empty(), world.watcher.floods > 0)
        };
        let times = if floods { 5 } else { u32::from(changed) };
        for _ in 0..times {
            self.input(Input::Hint);
        }
    }

    fn input(&mut self, input: Input) {
        let now = self.now();
        if let Some(driver) = &mut self.driver {
            driver.input(input, now);
            self.after_input();
        }
    }
}

/// `record-equals-memory`.
fn record_equals_memory(driver: &Driver, disk: &Disk, world: &mut World) {
    let runs = driver.books().runs().filter(|held| disk.runs.get(&held.record.id) != Some(&held.record));
    let pairs = driver.books().pairs().filter(|held| disk.pairs.get(&held.record.id) != Some(&held.record));
    let differ: Vec<String> =
        runs.map(|held| held.record.id.to_string()).chain(pairs.map(|held| held.record.id.to_string())).collect();
    for id in differ {
        world.breaks(Invariant::RecordEqualsMemory, format!("{id} is otherwise on the disk"));
    }
}
