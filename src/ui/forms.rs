//! The forms there are: their fields, what they check while one types, what they order.
//! How a form is worked is in `form`.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json, json};

use crate::model::command::{Command, Control, NewPair, NewRun, SessionControl};
use crate::model::config::{
    ADVANCE_PROMPT, FEEDBACK_PROMPT, FirstPhase, NearMissRule, PAIR_REVIEW_PROMPT, PairConfig, RUN_REVIEW_PROMPT,
    RunConfig,
};
use crate::model::ids::{Agent, SessionKey, SessionRef};
use crate::model::launch::is_unnamed;
use crate::model::pair::Kickoff;
use crate::model::reach::Transport;
use crate::model::session::SessionState;
use crate::projection::{Projection, RunView, SessionView, Settings};

use super::app::{App, Effect, Nearby, Over, Tmux};
use super::form::{Field, Form, FormKind, Sign, Value};
use super::start_form;
use super::width::{cut, pad, width};

/// Name under which the new run's form is remembered.
pub const REMEMBERED: &str = "new_run";
/// Name under which the new pair's form is remembered.
pub const PAIR_REMEMBERED: &str = "new_pair";

/// Name of the button that starts a run and asks for its first phase at once.
pub const START_ASK: &str = "start_ask";

/// What looking first means.
const LOOK_FIRST: &str = "With look first each relay waits for you: Enter shows it, i edits it, Enter sends it.";

const FIRST_PHASE: [FirstPhase; 3] = [FirstPhase::Next, FirstPhase::Current, FirstPhase::Ask];
const NEAR_MISS: [NearMissRule; 3] = [NearMissRule::Ask, NearMissRule::Wait, NearMissRule::Feedback];

impl App {
    /// The form for a new run. `builds`: a session that was chosen already.
    #[must_use]
    pub fn new_run_form(&self, builds: Option<&SessionKey>) -> Form {
        let kept: RunConfig = self
            .memory
            .get(REMEMBERED)
            .and_then(|value| serde_json::from_value(value.clone()).ok())
            .unwrap_or_default();
        let mut fields = vec![
            Field::choice("implementer", "builds", Vec::new(), None),
            Field::choice("reviewer", "reviews", Vec::new(), None),
            Field::choice(
                "first_phase",
                "phase 1",
                first_phase_words("the builder"),
                place(&FIRST_PHASE, &kept.first_phase),
            ),
            Field::line("review_stop_signal", "good", &kept.review_stop_signal),
            Field::line("completion_signal", "end", &kept.completion_signal).joined(),
            Field::line("max_rounds", "relays", kept.max_rounds.to_string()),
            Field::tick("confirm_before_relay", "look first", kept.confirm_before_relay).joined(),
            Field::line("name", "name", ""),
            Field::line("phases", "phases", kept.phases.map(|n| n.to_string()).unwrap_or_default()).joined(),
            Field::fold("prompts", "prompts"),
        ];
        fields.extend(prompt_fields(&kept).map(Field::behind_fold));
        fields.extend([Field::button("start", "start"), Field::button(START_ASK, "start and ask now").joined()]);
        let mut form = Form::new(FormKind::NewRun, "new run", fields);
        form.builds = builds.cloned();
        self.propose_sides(&mut form);
        self.check_form(&mut form);
        form
    }

    /// The form for a new pair.
    #[must_use]
    pub fn new_pair_form(&self, builds: Option<&SessionKey>) -> Form {
        let kept: PairConfig = self
            .memory
            .get(PAIR_REMEMBERED)
            .and_then(|value| serde_json::from_value(value.clone()).ok())
            .unwrap_or_default();
        let fields = vec![
            Field::choice("implementer", "builds", Vec::new(), None),
            Field::choice("reviewer", "reviews", Vec::new(), None),
            Field::choice("kickoff", "begins", first_phase_words("the builder").into_iter().take(2).collect(), Some(1)),
            Field::line("stop_signal", "good", &kept.stop_signal),
            Field::line("max_rounds", "relays", kept.max_rounds.to_string()),
            Field::tick("confirm_before_relay", "look first", kept.confirm_before_relay).joined(),
            Field::prompt("review_prompt", "review", &kept.review_prompt, PAIR_REVIEW_PROMPT),
            Field::prompt("feedback_prompt", "feedback", &kept.feedback_prompt, FEEDBACK_PROMPT),
            Field::button("start", "start"),
        ];
        let mut form = Form::new(FormKind::NewPair, "new pair", fields);
        form.builds = builds.cloned();
        self.propose_sides(&mut form);
        self.check_form(&mut form);
        form
    }

    /// The form for a run's settings.
    #[must_use]
    pub fn options_form(&self, run: &RunView) -> Form {
        let (near_miss, debounce) = match &run.settings {
            Settings::Run(config) => (config.near_miss, config.debounce),
            Settings::Pair(config) => (config.near_miss, config.debounce),
        };
        let mut fields = match &run.settings {
            Settings::Run(config) => run_options(config),
            Settings::Pair(config) => pair_options(config),
        };
        let rules = ["asks the reviewer once", "waits for you", "is feedback"].map(str::to_owned).to_vec();
        fields.extend([
            Field::choice("near_miss", "near miss", rules, place(&NEAR_MISS, &near_miss)),
            Field::line("debounce", "quiet", debounce.to_string()),
            Field::button("save", "save"),
        ]);
        let kind = FormKind::Options(run.key.clone(), run.revision);
        let mut form = Form::new(kind, format!("options · {}", run.name), fields);
        form.explains = format!(
            "{} builds, {} reviews. Changes count from the next message on.",
            run.implementer.label, run.reviewer.label
        );
        form.at = 0;
        form
    }

    /// The sessions that can be chosen, nearest first, and the two that are proposed.
    fn propose_sides(&self, form: &mut Form) {
        let views = self.offer_sides(form);
        let (implementer, reviewer) = self.proposal(&views, form.builds.as_ref());
        set_side(form, "implementer", implementer.as_ref());
        set_side(form, "reviewer", reviewer.as_ref());
        form.remark = match (implementer.is_some() && reviewer.is_some(), self.nearby.window.len(), &form.builds) {
            (false, ..) => String::new(),
            (true, 2, None) => "proposed from this window".to_owned(),
            (true, ..) => "proposed".to_owned(),
        };
    }

    /// The sessions that can be chosen, nearest first; what is chosen stays.
    fn offer_sides(&self, form: &mut Form) -> Vec<&SessionView> {
        let mut views: Vec<&SessionView> = self.projection.sessions.iter().filter(|view| !view.put_away).collect();
        // One that has no name yet has no session either.
        views.retain(|view| !is_unnamed(&view.session.session_id));
        // This window, this work tree, other live ones; older ones are found by typing.
        let is_near = |view: &SessionView| self.nearby.window.contains(&view.session.key());
        views.sort_by_key(|view| {
            let in_window = self.nearby.window.iter().position(|near| *near == view.session.key());
            let here = self.nearby.worktree.as_deref() == Some(view.session.worktree.as_str());
            (in_window.unwrap_or(usize::MAX), !view.live, !here, std::cmp::Reverse(view.active_at))
        });
        let older = views.iter().position(|view| !view.live && !is_near(view));
        // Where nothing lives, what there is must be seen.
        form.older_from = older.filter(|at| *at > 0).unwrap_or(usize::MAX);
        let chosen = ["implementer", "reviewer"].map(|id| form.side(id).map(SessionRef::key));
        form.sides = views.iter().map(|view| view.session.clone()).collect();
        let words: Vec<String> = views.iter().map(|view| side_words(view)).collect();
        for id in ["implementer", "reviewer"] {
            if let Some(Field { value: Value::Choice { options, .. }, .. }) = form.field_mut(id) {
                options.clone_from(&words);
            }
        }
        let [builds, reviews] = chosen;
        set_side(form, "implementer", builds.as_ref());
        set_side(form, "reviewer", reviews.as_ref());
        views
    }

    /// What was seen around: a form whose sides nobody has chosen yet proposes anew.
    pub(super) fn look_around(&mut self, nearby: Nearby) -> Vec<Effect> {
        if self.nearby != nearby {
            self.nearby = nearby;
            self.offer_anew(true);
        }
        Vec::new()
    }

    /// Sessions may have been found or have gone: an open form offers what there is now. It proposes as long as it has
    /// nothing to propose or not every session was looked at; after that nothing moves under a person's hand. Where
    /// others live than before, the window is looked at anew.
    pub(super) fn offer_what_is_found(&mut self, before: &Projection) -> Option<Effect> {
        self.offer_anew(before.looking || self.projection.looking);
        let live = |projection: &Projection| -> BTreeSet<SessionKey> {
            projection.sessions.iter().filter(|view| view.live).map(|view| view.session.key()).collect()
        };
        let is_open = matches!(self.over.last(), Some(Over::Form(form)) if form.offers_sides());
        (is_open && live(before) != live(&self.projection)).then_some(Effect::LookAround)
    }

    fn offer_anew(&mut self, anew: bool) {
        let Some(Over::Form(mut form)) = self.over.pop_if(|over| matches!(over, Over::Form(_))) else { return };
        if form.offers_sides() && !form.waits {
            let is_filled = ["implementer", "reviewer"].iter().all(|id| form.side(id).is_some());
            if !form.chose_side && (anew || !is_filled) {
                self.propose_sides(&mut form);
            } else {
                self.offer_sides(&mut form);
            }
            self.check_form(&mut form);
        }
        self.over.push(Over::Form(form));
    }

    /// Inside tmux the two of this window or nobody; else the only two live and free ones. The last roles, else Claude
    /// builds, else the upper pane.
    fn proposal(
        &self,
        views: &[&SessionView],
        builds: Option<&SessionKey>,
    ) -> (Option<SessionKey>, Option<SessionKey>) {
        let free = |view: &&&SessionView| view.live && view.used_by.is_none();
        let live: Vec<SessionKey> = views.iter().filter(free).map(|view| view.session.key()).collect();
        let known = |key: &&SessionKey| views.iter().any(|view| view.session.key() == **key);
        let window: Vec<SessionKey> = self.nearby.window.iter().filter(known).cloned().collect();
        let pair = if window.len() == 2 || self.nearby.tmux == Tmux::Inside { window } else { live };
        if let Some(builds) = builds {
            let mut others = pair.into_iter().filter(|key| key != builds);
            let other = others.next();
            let only = if others.next().is_none() { other } else { None };
            return (Some(builds.clone()), only);
        }
        let [first, second] = pair.as_slice() else { return (None, None) };
        if self.built_last(second)
            || (second.agent == Agent::Claude && first.agent != Agent::Claude && !self.built_last(first))
        {
            (Some(second.clone()), Some(first.clone()))
        } else {
            (Some(first.clone()), Some(second.clone()))
        }
    }

    /// Whether a session of this agent built in the newest run of this session's worktree.
    fn built_last(&self, key: &SessionKey) -> bool {
        let Some(view) = self.session(key) else { return false };
        self.projection
            .runs
            .iter()
            .filter(|run| run.implementer.session.worktree == view.session.worktree)
            .max_by_key(|run| run.created_at)
            .is_some_and(|run| {
                run.implementer.session.agent == key.agent && run.reviewer.session.agent != key.agent
                    || run.implementer.session.key() == *key
            })
    }

    /// Checks what is filled in and says what is known about it.
    pub fn check_form(&self, form: &mut Form) {
        for field in &mut form.fields {
            field.problem = None;
        }
        for (id, least) in [("max_rounds", 1), ("max_phases", 1), ("phases", 0), ("more", 1), ("debounce", 0)] {
            let optional = id == "phases";
            let number = form.number(id);
            let empty = form.words(id).is_empty();
            if let Some(field) = form.field_mut(id)
                && !(optional && empty)
                && number.is_none_or(|number| number < least)
            {
                field.problem = Some(if least > 0 { "a whole number from 1 on" } else { "a whole number" }.to_owned());
            }
        }
        for id in ["review_stop_signal", "completion_signal", "stop_signal"] {
            if form.field(id).is_some() && form.words(id).is_empty() {
                problem(form, id, "a word the agent will write");
            }
        }
        if !form.words("review_stop_signal").is_empty()
            && form.words("review_stop_signal") == form.words("completion_signal")
        {
            problem(form, "completion_signal", "not the word for good");
        }
        match form.kind {
            FormKind::NewRun | FormKind::NewPair => self.check_sides(form),
            FormKind::StartAgent => self.check_start(form),
            _ => {}
        }
    }

    fn check_sides(&self, form: &mut Form) {
        let (builds, reviews) = (form.side("implementer").cloned(), form.side("reviewer").cloned());
        for (id, side) in [("implementer", &builds), ("reviewer", &reviews)] {
            match side {
                None => problem(form, id, "pick a session"),
                Some(side) => {
                    let used = self.session(&side.key()).and_then(|view| view.used_by.clone());
                    if let Some(by) = used {
                        let name = self.run(&by).map_or_else(|| by.to_string(), |run| run.name.clone());
                        problem(form, id, &format!("is used by {name}: stop that first"));
                    }
                }
            }
        }
        if builds.is_some() && builds == reviews {
            problem(form, "reviewer", "pick another session than the builder's");
        }
        let label = builds.as_ref().map_or("the builder", |side| side.agent.as_str()).to_owned();
        let is_run = form.kind == FormKind::NewRun;
        if let Some(Field { value: Value::Choice { options, .. }, .. }) =
            form.field_mut(if is_run { "first_phase" } else { "kickoff" })
        {
            *options = first_phase_words(&label).into_iter().take(options.len()).collect();
        }
        form.facts = self.facts(builds.as_ref(), reviews.as_ref());
        form.explains = match (is_run, form.chosen(if is_run { "first_phase" } else { "kickoff" })) {
            (true, Some(2)) => asks_at_once(&label),
            (_, Some(1)) => format!("Starting reviews {label}'s last answer now."),
            (true, _) => format!("Starting sends nothing: {label}'s next answer will be phase 1."),
            (false, _) => format!("Starting sends nothing: {label}'s next answer will be reviewed."),
        };
    }

    /// Will it run alone? Advice, never a refusal.
    fn facts(&self, builds: Option<&SessionRef>, reviews: Option<&SessionRef>) -> Vec<(Sign, String)> {
        let views: Vec<&SessionView> =
            [builds, reviews].into_iter().flatten().filter_map(|side| self.session(&side.key())).collect();
        if views.len() < 2 {
            return vec![
                (Sign::Bad, "two sessions are needed: one builds, one reviews".to_owned()),
                (Sign::Open, "an agent is found with its first message: give it one".to_owned()),
            ];
        }
        let mut facts = Vec::new();
        let (unseen, seen): (Vec<_>, Vec<_>) =
            views.into_iter().partition(|view| view.state == SessionState::NotLooked);
        let free = seen.iter().filter(|view| matches!(view.state, SessionState::Idle | SessionState::NeedsYou(_)));
        let free = if free.count() == seen.len() { "both free" } else { "one at work is waited for" };
        let by = |way: Option<Transport>| -> Vec<&str> {
            seen.iter().filter(|view| view.transport == way).map(|view| view.agent.as_str()).collect()
        };
        let (deaf, by_hand) = (by(None), by(Some(Transport::ByHand)));
        if !unseen.is_empty() {
            let agents: Vec<&str> = unseen.iter().map(|view| view.agent.as_str()).collect();
            facts.push((Sign::Open, format!("{}: not looked at yet, in a moment", agents.join(" and "))));
        } else if deaf.is_empty() && by_hand.is_empty() {
            facts.push((Sign::Good, format!("{free}, both can be written to")));
        } else {
            facts.push((Sign::Good, free.to_owned()));
        }
        let without = if self.nearby.tmux == Tmux::Missing { " (tmux is not installed)" } else { "" };
        if !deaf.is_empty() {
            facts.push((
                Sign::Bad,
                format!("no way to write to {}: start it in a tmux pane{without}", deaf.join(" and ")),
            ));
        }
        if !by_hand.is_empty() {
            facts.push((
                Sign::Bad,
                format!("{} is in no tmux pane{without}: each message waits for your paste", by_hand.join(" and ")),
            ));
        }
        if let (Some(builds), Some(reviews)) = (builds, reviews) {
            facts.extend(self.will_it_run_alone([builds, reviews]));
        }
        facts
    }
}

impl Form {
    /// The sentences above its buttons: about the focused field where that has some of its own, else what it does.
    #[must_use]
    pub fn says(&self) -> String {
        match self.focused() {
            Some(Field { id: "confirm_before_relay", value: Value::Tick(on), .. }) => {
                format!("{LOOK_FIRST} Space turns it {}.", if *on { "off" } else { "on" })
            }
            Some(Field { id: "debounce", .. }) => "A turn has ended once its side was quiet for so long.".to_owned(),
            Some(Field { id, .. }) if *id == START_ASK => {
                asks_at_once(self.side("implementer").map_or("the builder", |side| side.agent.as_str()))
            }
            _ => self.explains.clone(),
        }
    }
}

fn asks_at_once(label: &str) -> String {
    format!("Starting asks {label} for phase 1 with the phase prompt, at once.")
}

fn problem(form: &mut Form, id: &str, words: &str) {
    if let Some(field) = form.field_mut(id)
        && field.problem.is_none()
    {
        field.problem = Some(words.to_owned());
    }
}

fn set_side(form: &mut Form, id: &str, key: Option<&SessionKey>) {
    let place = key.and_then(|key| form.sides.iter().position(|side| side.key() == *key));
    if let Some(Field { value: Value::Choice { at, .. }, .. }) = form.field_mut(id) {
        *at = place;
    }
}

/// Swaps the two sides.
pub fn swap_sides(form: &mut Form) {
    let (builds, reviews) = (form.side("implementer").map(SessionRef::key), form.side("reviewer").map(SessionRef::key));
    set_side(form, "implementer", reviews.as_ref());
    set_side(form, "reviewer", builds.as_ref());
}

fn side_words(view: &SessionView) -> String {
    let folder = view.session.worktree.rsplit('/').next().unwrap_or("");
    let state = match &view.state {
        SessionState::Idle => "idle",
        SessionState::Working { .. } => "works",
        SessionState::NeedsYou(_) => "waits",
        SessionState::Gone => "gone",
        SessionState::NotLooked => "not looked at",
    };
    let place = if view.place.is_empty() { &view.title } else { view.place.as_str() };
    format!("{:<6}  {}  {}  {state}", view.agent.as_str(), at_least(&cut(folder, 12), 5), at_least(&cut(place, 14), 5))
}

/// Followed by blanks where it is shorter.
fn at_least(words: &str, columns: usize) -> String {
    pad(words, columns.max(width(words)))
}

fn first_phase_words(label: &str) -> Vec<String> {
    vec![format!("{label}'s next answer"), "its last answer, review it now".to_owned(), "ask now".to_owned()]
}

fn place<T: PartialEq>(of: &[T], wanted: &T) -> Option<usize> {
    of.iter().position(|known| known == wanted)
}

fn prompt_fields(config: &RunConfig) -> [Field; 3] {
    [
        Field::prompt("advance_prompt", "ask", &config.advance_prompt, ADVANCE_PROMPT),
        Field::prompt("review_prompt", "review", &config.review_prompt, RUN_REVIEW_PROMPT),
        Field::prompt("feedback_prompt", "feedback", &config.feedback_prompt, FEEDBACK_PROMPT),
    ]
}

fn run_options(config: &RunConfig) -> Vec<Field> {
    let mut fields = vec![
        Field::line("max_rounds", "relays", config.max_rounds.to_string()),
        Field::tick("confirm_before_relay", "look first", config.confirm_before_relay).joined(),
        Field::line("review_stop_signal", "good", &config.review_stop_signal),
        Field::line("completion_signal", "end", &config.completion_signal).joined(),
        Field::line("max_phases", "at most", config.max_phases.to_string()),
        Field::line("phases", "expected", config.phases.map(|n| n.to_string()).unwrap_or_default()).joined(),
        Field::tick("resume_after_limit", "go on after a limit", config.resume_after_limit),
    ];
    fields.extend(prompt_fields(config));
    fields
}

fn pair_options(config: &PairConfig) -> Vec<Field> {
    vec![
        Field::line("max_rounds", "relays", config.max_rounds.to_string()),
        Field::tick("confirm_before_relay", "look first", config.confirm_before_relay).joined(),
        Field::line("stop_signal", "good", &config.stop_signal),
        Field::tick("resume_after_limit", "go on after a limit", config.resume_after_limit),
        Field::prompt("review_prompt", "review", &config.review_prompt, PAIR_REVIEW_PROMPT),
        Field::prompt("feedback_prompt", "feedback", &config.feedback_prompt, FEEDBACK_PROMPT),
    ]
}

/// The order a form gives. `ask_now`: start and ask at once.
#[must_use]
pub fn order_of(form: &Form, before: Option<&RunView>, ask_now: bool) -> Option<Command> {
    let control = |key: &crate::model::ids::RecordKey, revision: u64, control| Command::Control {
        target: key.clone(),
        expect: Some(revision),
        control,
    };
    Some(match &form.kind {
        FormKind::StartAgent => start_form::order_of(form),
        FormKind::NewRun => Command::CreateRun(NewRun {
            implementer: form.side("implementer")?.clone(),
            reviewer: form.side("reviewer")?.clone(),
            config: run_config(form, ask_now),
        }),
        FormKind::NewPair => Command::CreatePair(NewPair {
            implementer: form.side("implementer")?.clone(),
            reviewer: form.side("reviewer")?.clone(),
            kickoff: Some(if form.chosen("kickoff") == Some(1) { Kickoff::UseCurrent } else { Kickoff::WaitForNext }),
            config: pair_config(form),
        }),
        FormKind::Options(key, revision) => {
            let changes = changes_of(form, &before?.settings);
            control(key, *revision, Control::Configure { changes, by: "dashboard".to_owned() })
        }
        FormKind::More(key, revision) => control(
            key,
            *revision,
            Control::More { n: form.number("more")?, blockers_only: form.ticked("blockers_only") },
        ),
        FormKind::RenameRun(key, revision) => {
            control(key, *revision, Control::Rename { name: form.words("name").to_owned() })
        }
        FormKind::RenameSession(key) => Command::Session {
            session: key.clone(),
            control: SessionControl::Rename { name: form.words("name").to_owned() },
        },
    })
}

/// The settings a new run's form describes.
#[must_use]
pub fn run_config(form: &Form, ask_now: bool) -> RunConfig {
    let chosen = form.chosen("first_phase").and_then(|at| FIRST_PHASE.get(at).copied()).unwrap_or_default();
    RunConfig {
        name: form.words("name").to_owned(),
        review_stop_signal: form.words("review_stop_signal").to_owned(),
        completion_signal: form.words("completion_signal").to_owned(),
        max_rounds: form.number("max_rounds").unwrap_or(10),
        confirm_before_relay: form.ticked("confirm_before_relay"),
        phases: form.number("phases"),
        advance_prompt: form.words("advance_prompt").to_owned(),
        review_prompt: form.words("review_prompt").to_owned(),
        feedback_prompt: form.words("feedback_prompt").to_owned(),
        first_phase: if ask_now { FirstPhase::Ask } else { chosen },
        ..RunConfig::default()
    }
}

/// The settings a new pair's form describes.
#[must_use]
pub fn pair_config(form: &Form) -> PairConfig {
    PairConfig {
        stop_signal: form.words("stop_signal").to_owned(),
        max_rounds: form.number("max_rounds").unwrap_or(10),
        confirm_before_relay: form.ticked("confirm_before_relay"),
        review_prompt: form.words("review_prompt").to_owned(),
        feedback_prompt: form.words("feedback_prompt").to_owned(),
        ..PairConfig::default()
    }
}

/// The settings that differ from those of the record.
fn changes_of(form: &Form, before: &Settings) -> Map<String, Json> {
    let before = match before {
        Settings::Run(config) => serde_json::to_value(config),
        Settings::Pair(config) => serde_json::to_value(config),
    }
    .unwrap_or_default();
    form.fields
        .iter()
        .filter_map(|field| {
            let value = match &field.value {
                Value::Line(_) if matches!(field.id, "max_rounds" | "max_phases" | "debounce") => {
                    json!(form.number(field.id)?)
                }
                Value::Line(_) if field.id == "phases" => json!(form.number(field.id)),
                Value::Line(line) => json!(line.text().trim()),
                Value::Tick(on) => json!(on),
                Value::Prompt(words, _) => json!(words),
                Value::Choice { at, .. } => json!(NEAR_MISS.get((*at)?)?),
                Value::Fold(_) | Value::Button => return None,
            };
            (before.get(field.id) != Some(&value)).then(|| (field.id.to_owned(), value))
        })
        .collect()
}
