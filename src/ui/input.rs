//! Terminal events as messages. Keys that trellis does not know are no messages.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEventKind};

use super::app::Msg;
use super::key::{Code, Key};

/// Lines the wheel moves.
const WHEEL: isize = 3;

/// What a terminal event means, if it means anything.
#[must_use]
pub fn message(event: Event) -> Option<Msg> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => named(key).map(Msg::Key),
        Event::Paste(words) => Some(Msg::Paste(words)),
        Event::Resize(columns, rows) => Some(Msg::Resize(columns, rows)),
        Event::Mouse(mouse) => match mouse.kind {
            MouseEventKind::ScrollDown => Some(Msg::Wheel(WHEEL)),
            MouseEventKind::ScrollUp => Some(Msg::Wheel(-WHEEL)),
            MouseEventKind::Down(MouseButton::Left) => Some(Msg::Click { x: mouse.column, y: mouse.row }),
            _ => None,
        },
        Event::Key(_) | Event::FocusGained | Event::FocusLost => None,
    }
}

fn named(event: KeyEvent) -> Option<Key> {
    if event.modifiers.intersects(KeyModifiers::ALT | KeyModifiers::SUPER | KeyModifiers::META | KeyModifiers::HYPER) {
        return None;
    }
    let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
    let code = match event.code {
        // Shift is in the character already, but not for every terminal that reports keys in the long form.
        KeyCode::Char(c) if event.modifiers.contains(KeyModifiers::SHIFT) && c.is_ascii_lowercase() => {
            Code::Char(c.to_ascii_uppercase())
        }
        KeyCode::Char(c) if ctrl => Code::Char(c.to_ascii_lowercase()),
        KeyCode::Char(c) => Code::Char(c),
        KeyCode::Enter => Code::Enter,
        KeyCode::Esc => Code::Esc,
        KeyCode::Tab if event.modifiers.contains(KeyModifiers::SHIFT) => Code::BackTab,
        KeyCode::Tab => Code::Tab,
        KeyCode::BackTab => Code::BackTab,
        KeyCode::Backspace => Code::Backspace,
        KeyCode::Delete => Code::Delete,
        KeyCode::Up => Code::Up,
        KeyCode::Down => Code::Down,
        KeyCode::Left => Code::Left,
        KeyCode::Right => Code::Right,
        KeyCode::Home => Code::Home,
        KeyCode::End => Code::End,
        KeyCode::PageUp => Code::PageUp,
        KeyCode::PageDown => Code::PageDown,
        _ => return None,
    };
    let ctrl = ctrl && matches!(code, Code::Char(_));
    Some(Key { code, ctrl })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_their_names() {
        let key = |code, modifiers| named(KeyEvent::new(code, modifiers)).map(|key| key.to_string());
        assert_eq!(key(KeyCode::Char('D'), KeyModifiers::SHIFT).as_deref(), Some("D"));
        assert_eq!(key(KeyCode::Char('s'), KeyModifiers::CONTROL).as_deref(), Some("Ctrl-s"));
        assert_eq!(key(KeyCode::BackTab, KeyModifiers::SHIFT).as_deref(), Some("Shift-Tab"));
        assert_eq!(key(KeyCode::Char('x'), KeyModifiers::ALT), None);
        assert_eq!(key(KeyCode::F(1), KeyModifiers::NONE), None);
    }
}
