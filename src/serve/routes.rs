//! Which request means what: every path with its method, and the controls of runs and pairs. The document `openapi.json`
//! says the same; a test walks both ways. Nothing is carried out here.

use std::sync::LazyLock;

use hyper::Method;

/// Before every path.
pub const ROOT: &str = "/api/v1";

/// Runs or pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Checklist runs.
    Run,
    /// Pairs.
    Pair,
}

impl Kind {
    /// Its part of a path.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Run => "checklist",
            Self::Pair => "pair",
        }
    }
}

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Who drives, and since when.
    Health,
    /// The description of all this.
    Document,
    /// What viewers draw.
    Projection,
    /// The same, at each change.
    ProjectionFeed,
    /// Events as they are published.
    Events,
    /// An order as a viewer gives it.
    Order,
    /// All records of a kind.
    List(Kind),
    /// A new one.
    Create(Kind),
    /// Its events.
    Feed(Kind),
    /// Those of a session.
    BySession(Kind),
    /// One.
    Show(Kind),
    /// Change its settings.
    Configure(Kind),
    /// Remove it.
    Discard(Kind),
    /// A control of one.
    Control(Kind, &'static Spec),
    /// All sessions.
    Sessions,
    /// A new one.
    StartSession,
    /// Their events.
    SessionFeed,
    /// One.
    Session,
    /// A page of its transcript.
    Transcript,
    /// Something about one.
    SessionOrder(&'static str),
}

/// A control: its word in paths and commands, whether pairs without a run have it, and what its body may hold beside
/// `expect`.
#[derive(Debug, PartialEq, Eq)]
pub struct Spec {
    /// The word.
    pub word: &'static str,
    /// Pairs have it too.
    pub of_pairs: bool,
    /// Fields of its body.
    pub fields: &'static [&'static str],
}

const fn spec(word: &'static str, of_pairs: bool, fields: &'static [&'static str]) -> Spec {
    Spec { word, of_pairs, fields }
}

/// Every control but settings and removal, which have methods of their own.
pub static CONTROLS: [Spec; 20] = [
    spec("pause", true, &[]),
    spec("resume", true, &[]),
    spec("stop", true, &[]),
    spec("skip", false, &[]),
    spec("retry", true, &[]),
    spec("ask", false, &[]),
    spec("accept", true, &[]),
    spec("more", true, &["n", "blockers_only"]),
    spec("as-feedback", true, &[]),
    spec("write", true, &["side", "text", "go_on"]),
    spec("rename", false, &["name"]),
    spec("follow", true, &[]),
    spec("bring-back", true, &[]),
    spec("check-delivery", true, &[]),
    spec("send-again", true, &[]),
    spec("drop", true, &[]),
    spec("by-hand", true, &[]),
    spec("force-relay", true, &[]),
    spec("confirm", true, &["action", "edited_text"]),
    spec("run-on", false, &[]),
];

/// What can be said about a session, with the fields of its body.
pub const SESSION_ORDERS: [(&str, &[&str]); 6] = [
    ("rename", &["name"]),
    ("put-away", &[]),
    ("take-back", &[]),
    ("send", &["text", "go_on", "expect"]),
    ("bring-back", &[]),
    ("reach", &["transport", "permission_mode", "model"]),
];

/// A method on a path; `{…}` stands for one part of it.
#[derive(Clone, Debug)]
pub struct Route {
    /// The method.
    pub method: Method,
    /// The path.
    pub path: String,
    /// What it asks for.
    pub op: Op,
}

/// Every one, in the order in which they are tried: words before what stands for any.
pub static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(all);

fn all() -> Vec<Route> {
    let mut routes = Vec::new();
    let mut add = |method: Method, path: &str, op: Op| {
        routes.push(Route { method, path: format!("{ROOT}/{path}"), op });
    };
    add(Method::GET, "health", Op::Health);
    add(Method::GET, "openapi.json", Op::Document);
    add(Method::GET, "projection", Op::Projection);
    add(Method::GET, "projection/ws", Op::ProjectionFeed);
    add(Method::GET, "events", Op::Events);
    add(Method::POST, "order", Op::Order);
    for kind in [Kind::Run, Kind::Pair] {
        let word = kind.word();
        add(Method::GET, word, Op::List(kind));
        add(Method::POST, word, Op::Create(kind));
        add(Method::GET, &format!("{word}/ws"), Op::Feed(kind));
        add(Method::GET, &format!("{word}/by-session/{{session}}"), Op::BySession(kind));
        add(Method::GET, &format!("{word}/{{id}}"), Op::Show(kind));
        add(Method::PATCH, &format!("{word}/{{id}}"), Op::Configure(kind));
        add(Method::DELETE, &format!("{word}/{{id}}"), Op::Discard(kind));
        for spec in CONTROLS.iter().filter(|spec| kind == Kind::Run || spec.of_pairs) {
            add(Method::POST, &format!("{word}/{{id}}/{}", spec.word), Op::Control(kind, spec));
        }
    }
    add(Method::GET, "sessions", Op::Sessions);
    add(Method::POST, "sessions", Op::StartSession);
    add(Method::GET, "sessions/ws", Op::SessionFeed);
    add(Method::GET, "sessions/{session}", Op::Session);
    add(Method::GET, "sessions/{session}/transcript", Op::Transcript);
    for (word, _) in SESSION_ORDERS {
        add(Method::POST, &format!("sessions/{{session}}/{word}"), Op::SessionOrder(word));
    }
    routes
}

/// What a request asks for, with the part of its path that stood for any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found<'a> {
    /// This; the part is still as it was sent, and empty where the path has none.
    Op(Op, &'a str),
    /// The path has other methods.
    OtherMethod(Vec<Method>),
    /// Nothing.
    Nothing,
}

/// Looks a request up.
#[must_use]
pub fn find<'a>(method: &Method, path: &'a str) -> Found<'a> {
    let mut others: Vec<Method> = Vec::new();
    for route in ROUTES.iter() {
        let Some(part) = fits(&route.path, path) else { continue };
        if route.method == *method {
            return Found::Op(route.op, part);
        }
        if !others.contains(&route.method) {
            others.push(route.method.clone());
        }
    }
    if others.is_empty() { Found::Nothing } else { Found::OtherMethod(others) }
}

/// The part that stands for any, if the path is of this pattern; empty where nothing does.
fn fits<'a>(pattern: &str, path: &'a str) -> Option<&'a str> {
    let (mut wanted, mut given) = (pattern.split('/'), path.split('/'));
    let mut part = "";
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return Some(part),
            (Some(word), Some(text)) if word.starts_with('{') && !text.is_empty() => part = text,
            (Some(word), Some(text)) if word == text => {}
            _ => return None,
        }
    }
}
