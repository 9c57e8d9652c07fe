//! Conversations for the scenes.

use trellis::model::conversation::{Item, ItemKind};
use trellis::model::ids::Role;
use trellis::model::outbox::{EntryState, Purpose};
use trellis::projection::{Thread, ThreadEntry, ThreadKind};

use super::at;

pub fn said(clock: &str, role: Role, kind: ItemKind) -> ThreadEntry {
    let label = if role == Role::Implementer { "claude" } else { "codex" };
    let at = Some(at(clock));
    ThreadEntry { at, kind: ThreadKind::Said { role, label: label.to_owned(), item: Item { offset: 0, at, kind } } }
}

pub fn words(text: &str) -> ItemKind {
    ItemKind::Text { message_id: "m".into(), text: text.into() }
}

pub fn tool(name: &str, summary: &str, lines: Option<(u32, u32)>, ok: Option<bool>) -> ItemKind {
    ItemKind::Tool { call_id: "c".to_owned(), name: name.to_owned(), summary: summary.to_owned(), lines, ok }
}

pub fn sent(n: u32, to: Role, clock: &str) -> ThreadEntry {
    let label = if to == Role::Implementer { "claude" } else { "codex" };
    let time = Some(at(clock));
    ThreadEntry {
        at: time,
        kind: ThreadKind::Relay {
            n: Some(n),
            purpose: if to == Role::Reviewer { Purpose::ToReviewer } else { Purpose::ToImplementer },
            what: format!("relay {n} to {label}"),
            to,
            label: label.to_owned(),
            sent_at: time,
            seen_at: time,
            state: EntryState::Delivered,
            edited: false,
            text: "Feedback:\n\nwhole text".into(),
            original: None,
        },
    }
}

/// The conversation of the sketches.
pub fn talk() -> Thread {
    use Role::{Implementer as B, Reviewer as R};
    let entries = vec![
        ThreadEntry {
            at: Some(at("13:50:00")),
            kind: ThreadKind::Phase { n: 3, summary: "Checkout endpoint".to_owned() },
        },
        ThreadEntry {
            at: Some(at("13:50:00")),
            kind: ThreadKind::Human { role: B, label: "claude".to_owned(), text: "Now the checkout, please.".into() },
        },
        said("13:51:00", B, words("I'll look at the routes first.")),
        said("13:51:10", B, tool("Read", "src/routes.rs", None, Some(true))),
        said("13:52:10", B, tool("Edit", "src/checkout.rs", Some((150, 3)), Some(true))),
        said("13:53:10", B, tool("Edit", "src/lib.rs", Some((22, 4)), Some(true))),
        said("13:54:10", B, tool("Edit", "tests/checkout.rs", Some((30, 0)), Some(true))),
        said("13:55:10", B, tool("Edit", "README.md", Some((10, 2)), Some(true))),
        said("13:56:10", B, tool("Bash", "cargo test checkout", None, Some(true))),
        said("13:58:00", B, words("POST /checkout is in place, with tests for empty carts.")),
        sent(1, R, "13:58:10"),
        said("13:58:30", R, tool("shell", "cargo test", None, Some(false))),
        said(
            "13:59:00",
            R,
            words(
                "Two remarks:\n1. no **idempotency** key\n2. the total rounds twice:\n```rust\nlet t = round(sum); charge(round(t * tax)); // and this line is long enough to be cut\n```",
            ),
        ),
        sent(2, B, "14:00:31"),
        said("14:01:00", B, tool("Edit", "src/checkout.rs", Some((40, 12)), Some(true))),
        said("14:02:00", B, words("Both fixed, a test for each.")),
        sent(3, R, "14:02:02"),
        said("14:02:30", R, tool("shell", "cat src/checkout.rs", None, Some(true))),
        said("14:02:40", R, tool("shell", "cargo test checkout", None, None)),
    ];
    Thread { entries: entries.into(), ..Thread::default() }
}
