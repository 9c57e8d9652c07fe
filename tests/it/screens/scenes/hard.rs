//! Scenes with texts that are hard to draw: many scripts, hostile bytes, great lengths.

use std::sync::Arc;

use trellis::model::event::Decision;
use trellis::model::ids::{Role, SessionId};
use trellis::model::outbox::{EntryState, Purpose};
use trellis::model::session::SessionState;
use trellis::projection::{DeliveryView, LookFirst, Notice, Projection, ThreadEntry, ThreadKind};

use super::talks::{said, talk, tool, words};
use super::{ago, look_first, no_agreement, one, run};

/// Names and texts in many scripts.
pub fn many_scripts() -> Projection {
    let mut first = run("支払い画面の作り直しと長い名前の検索索引");
    first.sentence = "codex が 注文の合計を確認しています · relay 3 of 10".into();
    first.phases[2].summary = "🛒 カート 👩‍💻 e\u{301}toile".into();
    let mut projection = one(first);
    let mut thread = talk();
    thread.record = Some(projection.runs[0].key.clone());
    thread.entries.push(said(
        "14:20:00",
        Role::Implementer,
        words("合計は一度だけ丸めます。👩‍💻 | テスト\n\n| 名前 | 値 |\n|---|---|\n| カート | 12 |\n| e\u{301} | 👍🏽 |"),
    ));
    projection.shown = Some(Arc::new(thread));
    projection
}

/// What an agent could write to take over a terminal.
pub const HOSTILE: &str = "a\u{1b}]52;c;aGVsbG8=\u{7}b \u{1b}]0;title\u{7}c \u{1b}]8;;http://x.example\u{1b}\\link\u{1b}]8;;\u{1b}\\ \u{1b}[2J\u{1b}[31mred\u{1b}[0m \u{9b}5n\u{9d}0;t\u{9c} \u{1b}[6n \u{1b}[?1003h \u{202e}rtl \u{1b}]0;never ends";

/// Hostile words wherever words can come from outside.
pub fn hostile() -> Projection {
    let mut first = no_agreement();
    first.name = format!("name {HOSTILE}");
    first.sentence = HOSTILE.into();
    first.wait.who = HOSTILE.into();
    first.wait.what = HOSTILE.into();
    first.implementer.place = HOSTILE.into();
    first.implementer.session.worktree = HOSTILE.into();
    first.implementer.label = HOSTILE.into();
    for phase in &mut first.phases {
        phase.summary = HOSTILE.into();
    }
    for relay in &mut first.relay_list {
        relay.first_line = HOSTILE.into();
    }
    let banner = first.banner.as_mut().unwrap();
    banner.headline = HOSTILE.into();
    banner.lines = vec![HOSTILE.to_owned()];
    banner.offers[0].what = HOSTILE.into();
    first.look_first = Some(LookFirst { text: HOSTILE.into(), ..look_first().look_first.unwrap() });
    first.impossible.push(("skip".to_owned(), HOSTILE.to_owned()));
    let mut second = run("second");
    second.read_only = Some(HOSTILE.to_owned());
    second.delivery = Some(DeliveryView {
        purpose: Purpose::ToReviewer,
        to: Role::Reviewer,
        state: EntryState::Prepared,
        held: Some(HOSTILE.to_owned()),
        text: HOSTILE.into(),
        ticks: None,
        by_hand: false,
    });
    let mut projection = one(first);
    projection.runs.push(second);
    projection.notices.push(Notice { at: ago(5), text: HOSTILE.to_owned(), is_error: true });
    projection.home = HOSTILE.into();
    for at in 0..projection.sessions.len().min(4) {
        let view = &mut projection.sessions[at];
        view.title = HOSTILE.into();
        view.fact.evidence = HOSTILE.into();
        view.fact.because = HOSTILE.into();
        view.branch = Some(HOSTILE.into());
        view.place = HOSTILE.into();
        view.session.worktree = HOSTILE.into();
        view.session.session_id = SessionId::from(HOSTILE);
        view.path = HOSTILE.into();
        view.state = SessionState::Working { activity: HOSTILE.to_owned() };
    }
    projection.log = vec![Arc::new(Decision {
        at: ago(5),
        record: None,
        what: HOSTILE.to_owned(),
        evidence: HOSTILE.to_owned(),
        ground: None,
        decided: true,
    })];
    let mut thread = talk();
    thread.record = Some(projection.runs[0].key.clone());
    for role in [Role::Implementer, Role::Reviewer] {
        thread.entries.push(said(
            "14:20:00",
            role,
            words(&format!("# {HOSTILE}\n\n`{HOSTILE}`\n\n```\n{HOSTILE}\n```\n- {HOSTILE}")),
        ));
        thread.entries.push(said("14:20:00", role, tool(HOSTILE, HOSTILE, None, Some(false))));
        thread.entries.push(ThreadEntry {
            at: None,
            kind: ThreadKind::Human { role, label: HOSTILE.to_owned(), text: HOSTILE.into() },
        });
    }
    projection.shown = Some(Arc::new(thread));
    projection
}

/// A conversation of one long text after another.
pub fn long_talk(texts: &[String]) -> Projection {
    let mut projection = one(run("checkout"));
    let mut thread = talk();
    thread.record = Some(projection.runs[0].key.clone());
    thread.entries.truncate(2);
    for (at, text) in texts.iter().enumerate() {
        let role = if at % 2 == 0 { Role::Implementer } else { Role::Reviewer };
        thread.entries.push(said("14:20:00", role, words(text)));
    }
    projection.shown = Some(Arc::new(thread));
    projection
}
