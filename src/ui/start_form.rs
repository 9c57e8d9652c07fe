//! The form that starts an agent: its fields, what they say while one chooses, what they order.
//! How a form is worked is in `form`; what cannot be is the driver's word.

use serde_json::{Value as Json, json};

use crate::model::command::Command;
use crate::model::ids::Agent;
use crate::model::launch::{NOT_AS_ROOT, NewSession, modes};
use crate::model::reach::Transport;

use super::app::{App, Effect};
use super::form::{Field, Form, FormKind, Value};

/// Name under which what was chosen is remembered.
pub const REMEMBERED: &str = "start_agent";

const AGENTS: [Agent; 2] = [Agent::Claude, Agent::Codex];
const WAYS: [Transport; 2] = [Transport::Tmux, Transport::Headless];
/// The first choice of permissions.
const USUAL: &str = "as its settings say";

impl App {
    /// The form for a new session.
    #[must_use]
    pub fn start_form(&self) -> Form {
        let kept = self.memory.get(REMEMBERED);
        let word = |name: &str| kept.and_then(|kept| kept.get(name)).and_then(Json::as_str).unwrap_or_default();
        let agent = AGENTS.iter().position(|agent| agent.as_str() == word("agent")).unwrap_or(0);
        let way = usize::from(word("transport") == "headless");
        let folder = self.nearby.worktree.clone().unwrap_or_default();
        let fields = vec![
            Field::choice("agent", "agent", AGENTS.map(|agent| agent.as_str().to_owned()).to_vec(), Some(agent)),
            Field::line("worktree", "folder", folder),
            Field::choice("transport", "where", ["tmux window", "no window"].map(str::to_owned).to_vec(), Some(way)),
            Field::choice("permission_mode", "may", Vec::new(), Some(0)),
            Field::line("model", "model", ""),
            Field::prompt("prompt", "message", "", ""),
            Field::line("name", "name", ""),
            Field::button("start", "start"),
        ];
        let mut form = Form::new(FormKind::StartAgent, "start an agent", fields);
        self.check_start(&mut form);
        // Remembered for the agent it was chosen for.
        let mode = word("permission_mode").to_owned();
        if let Some(Field { value: Value::Choice { options, at }, .. }) = form.field_mut("permission_mode") {
            *at = options.iter().position(|option| *option == mode).or(Some(0));
        }
        self.check_start(&mut form);
        form
    }

    /// Offers what the chosen agent knows, and says what will happen.
    pub(super) fn check_start(&self, form: &mut Form) {
        let agent = agent_of(form);
        let known = || std::iter::once(USUAL).chain(modes(agent).iter().map(|mode| mode.name));
        if let Some(Field { value: Value::Choice { options, at }, .. }) = form.field_mut("permission_mode")
            && !options.iter().map(String::as_str).eq(known())
        {
            *options = known().map(str::to_owned).collect();
            *at = Some(0);
        }
        let headless = way_of(form) == Transport::Headless;
        let mode = mode_of(form).and_then(|name| modes(agent).iter().find(|mode| mode.name == name));
        if form.words("worktree").is_empty() {
            problem(form, "worktree", "name a folder");
        } else if !form.words("worktree").starts_with('/') {
            problem(form, "worktree", "name it by its whole path");
        }
        if headless && agent == Agent::Codex && form.words("prompt").trim().is_empty() {
            problem(form, "prompt", "without a window codex needs a first message");
        }
        if headless && mode.is_some_and(|mode| mode.interactive) {
            problem(form, "permission_mode", "without a window it never asks anyway");
        }
        if agent == Agent::Claude && self.nearby.as_root && mode.is_some_and(|mode| mode.name == NOT_AS_ROOT) {
            problem(form, "permission_mode", "claude refuses this as root");
        }
        let first =
            if form.words("prompt").trim().is_empty() { "It is sent nothing." } else { "Your message is its first." };
        let may = mode.map_or_else(String::new, |mode| format!(" It {}.", mode.says));
        let place = if headless { "runs without a window" } else { "opens in a new tmux window" };
        form.explains = format!("{agent} {place}. {first}{may}");
    }
}

/// What the form orders.
#[must_use]
pub fn order_of(form: &Form) -> Command {
    let given = |id: &str| Some(form.words(id)).filter(|words| !words.trim().is_empty()).map(str::to_owned);
    Command::StartSession(NewSession {
        agent: agent_of(form),
        worktree: form.words("worktree").to_owned(),
        transport: way_of(form),
        permission_mode: mode_of(form).map(str::to_owned),
        model: given("model"),
        prompt: given("prompt"),
        name: given("name"),
    })
}

/// What is kept for the next time: the agent, the way and the permissions, never a message.
#[must_use]
pub fn remember(form: &Form) -> Effect {
    let way = if way_of(form) == Transport::Headless { "headless" } else { "tmux" };
    let value = json!({ "agent": agent_of(form).as_str(), "transport": way, "permission_mode": mode_of(form) });
    Effect::Remember(REMEMBERED, value)
}

fn agent_of(form: &Form) -> Agent {
    form.chosen("agent").and_then(|at| AGENTS.get(at)).copied().unwrap_or(Agent::Claude)
}

fn way_of(form: &Form) -> Transport {
    form.chosen("transport").and_then(|at| WAYS.get(at)).copied().unwrap_or(Transport::Tmux)
}

fn mode_of(form: &Form) -> Option<&'static str> {
    let at = form.chosen("permission_mode")?.checked_sub(1)?;
    modes(agent_of(form)).get(at).map(|mode| mode.name)
}

fn problem(form: &mut Form, id: &str, words: &str) {
    if let Some(field) = form.field_mut(id) {
        field.problem = Some(words.to_owned());
    }
}
