//! The law of the question line.

use std::sync::Arc;

use jiff::tz::TimeZone;

use super::super::app::{Answer, Question};
use super::*;
use crate::projection::Projection;
use crate::ui::keymap::Keymap;

fn app() -> App {
    let now = "2026-03-14T14:21:12Z".parse().unwrap();
    App::new(Arc::new(Projection::default()), Keymap::standard().unwrap(), now, TimeZone::UTC, (80, 24))
}

fn asked(key: char) -> App {
    let mut app = app();
    let yes = Answer::Do(vec![Effect::Redraw]);
    app.over.push(Over::Question(Question { words: "sure?".to_owned(), key: Some(Key::char(key)), yes }));
    app
}

#[test]
fn only_y_and_the_same_key_are_yes() {
    for (key, is_yes) in [('y', true), ('x', true), ('n', false), ('s', false), ('q', false), ('2', false)] {
        let mut app = asked('x');
        let now = app.now;
        let effects = app.update(Msg::Key(Key::char(key)), now);
        assert_eq!(effects == [Effect::Redraw], is_yes, "{key}");
        assert!(app.over.is_empty());
        assert_eq!(*app.screen(), Screen::Runs, "{key} did something else");
    }
}

#[test]
fn paste_is_no_keys() {
    let mut app = asked('x');
    let now = app.now;
    assert!(app.update(Msg::Paste("yxq".to_owned()), now).is_empty());
    assert_eq!(app.over.len(), 1);
}
