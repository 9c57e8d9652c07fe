//! Captured panes: the input box and the dialogs read from any screen. No tmux is asked.

use trellis::agent::tmux::dialog;
use trellis::agent::tmux::input_box::{Box, find, read, tick};
use trellis::agent::tmux::screen::{is_blank, rows, text};
use trellis::model::ids::Agent;
use trellis::model::reach::InputBox;

/// A screen, and behind a NUL the text that may stand in the box.
pub fn panes(bytes: &[u8]) {
    let (height, bytes) = super::choice(bytes, 60);
    let whole = String::from_utf8_lossy(bytes);
    let (captured, ours) = whole.split_once('\0').unwrap_or((&whole, "Review this."));
    for row in rows(captured) {
        let _ = (text(&row), is_blank(&row));
    }
    for agent in [Agent::Claude, Agent::Codex] {
        let _ = dialog::find(agent, captured);
        let found = find(agent, captured);
        for typed in [false, true] {
            let of_ours = read(agent, captured, Some(ours), typed);
            let of_none = read(agent, captured, None, typed);
            assert!(of_none != InputBox::Ours, "nothing is ours when nothing was typed");
            let _ = (tick(agent, of_ours, u32::from(height)), tick(agent, of_none, u32::from(height)));
            match &found {
                Box::Empty => assert_eq!((of_ours, of_none), (InputBox::Empty, InputBox::Empty)),
                Box::Unknown => assert_eq!((of_ours, of_none), (InputBox::Unknown, InputBox::Unknown)),
                Box::Text(shown) => {
                    assert_eq!(read(agent, captured, Some(shown), typed), InputBox::Ours, "its own text is ours");
                    assert!(of_none != InputBox::Empty, "a text is never nothing");
                }
                Box::End(_) | Box::Cut(_) => assert!(of_none != InputBox::Empty, "a text is never nothing"),
            }
            // What cannot be seen whole is never taken for ours unless we typed it.
            if !typed && matches!(found, Box::End(_) | Box::Cut(_)) {
                assert!(of_ours != InputBox::Ours, "a part of a box is no proof: {found:?}");
            }
        }
    }
}
