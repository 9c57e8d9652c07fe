//! The description `openapi.json` and what is served: the same paths, methods, bodies and answers, walked both ways.

use std::collections::BTreeSet;

use hyper::Method;
use serde_json::Value;
use trellis::model::config::{PairConfig, RunConfig};
use trellis::serve::DOCUMENT;
use trellis::serve::routes::{CONTROLS, Found, Kind, Op, ROUTES, SESSION_ORDERS, find};

use super::{served, still};

pub fn document() -> Value {
    serde_json::from_str(DOCUMENT).unwrap()
}

/// What an operation may answer.
pub fn statuses(document: &Value, method: &Method, path: &str) -> BTreeSet<u16> {
    let responses = &document["paths"][path][method.as_str().to_lowercase()]["responses"];
    let of = |responses: &Value| {
        responses.as_object().into_iter().flatten().map(|(code, _)| code.parse().unwrap()).collect()
    };
    of(responses)
}

fn fields(schema: &Value) -> BTreeSet<String> {
    schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
}

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn body<'a>(document: &'a Value, method: &Method, path: &str) -> &'a Value {
    let operation = &document["paths"][path][method.as_str().to_lowercase()];
    &operation["requestBody"]["content"]["application/json"]["schema"]
}

#[test]
fn the_document_names_every_path_and_nothing_else() {
    let document = document();
    let mut described = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            described.insert((path.clone(), method.to_uppercase()));
        }
    }
    let served: BTreeSet<_> =
        ROUTES.iter().map(|route| (route.path.clone(), route.method.as_str().to_owned())).collect();
    assert_eq!(described, served);
    // Each is reached by its own path, whatever stands before it in the list.
    for route in ROUTES.iter() {
        let path = route.path.replace("{id}", "some-id").replace("{session}", "claude:some-id");
        match find(&route.method, &path) {
            Found::Op(op, _) => assert_eq!(op, route.op, "{} {path}", route.method),
            other => panic!("{} {path}: {other:?}", route.method),
        }
    }
}

#[test]
fn the_document_names_every_field_of_every_body() {
    let document = document();
    for route in ROUTES.iter() {
        let told = fields(body(&document, &route.method, &route.path));
        match route.op {
            Op::Control(_, spec) => {
                let mut taken = names(spec.fields);
                taken.insert("expect".to_owned());
                assert_eq!(told, taken, "{}", route.path);
            }
            Op::SessionOrder(word) => {
                let (_, taken) = SESSION_ORDERS.iter().find(|(name, _)| *name == word).unwrap();
                assert_eq!(told, names(taken), "{}", route.path);
            }
            Op::Create(kind) | Op::Configure(kind) => {
                let config = match kind {
                    Kind::Run => serde_json::to_value(RunConfig::default()).unwrap(),
                    Kind::Pair => serde_json::to_value(PairConfig::default()).unwrap(),
                };
                let mut taken: BTreeSet<String> = config.as_object().unwrap().keys().cloned().collect();
                taken.extend(names(match (route.op, kind) {
                    (Op::Create(_), Kind::Run) => &["implementer", "reviewer", "config"],
                    (Op::Create(_), Kind::Pair) => &["implementer", "reviewer", "config", "kickoff"],
                    _ => &["config", "expect", "by"],
                }));
                assert_eq!(told, taken, "{} {}", route.method, route.path);
            }
            _ => {}
        }
    }
    let words: BTreeSet<&str> = CONTROLS.iter().map(|spec| spec.word).collect();
    assert_eq!(words.len(), CONTROLS.len(), "each word means one thing");
}

/// Every reference leads somewhere, and every answer is described.
#[test]
fn the_document_is_whole() {
    let document = document();
    let text = DOCUMENT;
    for reference in text.split("\"$ref\": \"#/").skip(1) {
        let path = format!("/{}", reference.split('"').next().unwrap());
        assert!(document.pointer(&path).is_some(), "{path}");
    }
    for route in ROUTES.iter() {
        let answers = statuses(&document, &route.method, &route.path);
        assert!(answers.iter().any(|code| *code < 300), "{} {}: {answers:?}", route.method, route.path);
    }
}

#[test]
fn what_is_served_is_the_document() {
    served(
        still(),
        |_, _| {},
        async |served| {
            let got = served.ask("GET", "/api/v1/openapi.json", "").await;
            assert_eq!((got.status, got.json()), (200, document()));
            let health = served.ask("GET", "/api/v1/health", "").await.json();
            assert_eq!((health["api"].as_u64(), health["driver"].as_str()), (Some(1), Some("here")));
            assert_eq!(health["pid"].as_u64(), Some(u64::from(std::process::id())));
            let head = served.ask("HEAD", "/api/v1/health", "").await;
            assert_eq!((head.status, head.text.as_str()), (200, ""));
        },
    );
}
