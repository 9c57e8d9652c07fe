//! Which ways are taken where.

use super::*;

fn inside(term: &str) -> Environment {
    Environment { term: Some(term.to_owned()), ..Environment::default() }
}

fn in_tmux() -> Environment {
    let tmux = Some("/tmp/tmux-1000/default,12,0".to_owned());
    Environment { tmux, tmux_pane: Some("%3".to_owned()), ..inside("tmux-256color") }
}

fn set(notification: Notification) -> Config {
    Config { notification, ..Config::default() }
}

fn dialect(ways: &Ways) -> Option<(Dialect, bool)> {
    ways.terminal.as_ref().ok().map(|of| (of.dialect, of.wrapped))
}

#[test]
fn auto_takes_what_the_terminal_is_known_to_understand() {
    let of =
        |environment: &Environment| dialect(&Ways::of(&Config::default(), environment, Passthrough::Nothing, true));
    assert_eq!(of(&inside("xterm-kitty")), Some((Dialect::Osc99, false)));
    assert_eq!(of(&inside("foot")), Some((Dialect::Osc777, false)));
    assert_eq!(of(&inside("xterm-256color")), None);
    assert_eq!(of(&inside("linux")), None);
    let program = |name: &str| Environment { term_program: Some(name.to_owned()), ..inside("xterm-256color") };
    assert_eq!(of(&program("iTerm.app")), Some((Dialect::Osc9, false)));
    assert_eq!(of(&program("Apple_Terminal")), None);
    let over_ssh = Environment { lc_terminal: Some("iTerm2".to_owned()), over_ssh: true, ..inside("xterm-256color") };
    assert_eq!(of(&over_ssh), Some((Dialect::Osc9, false)));
}

#[test]
fn inside_tmux_its_own_message_is_used_unless_it_hands_on_what_was_asked_for() {
    let of = |notification, passthrough| Ways::of(&set(notification), &in_tmux(), passthrough, true);
    let auto = of(Notification::Auto, Passthrough::Everything);
    assert_eq!((dialect(&auto), auto.tmux.is_ok()), (None, true));
    let shut = of(Notification::Osc9, Passthrough::Nothing);
    assert_eq!((dialect(&shut), shut.tmux.is_ok()), (None, true));
    assert!(shut.terminal.unwrap_err().contains("allow-passthrough"));
    // From a pane out of sight nothing would come through.
    let in_sight = of(Notification::Osc9, Passthrough::InSight);
    assert_eq!((dialect(&in_sight), in_sight.tmux.is_ok()), (Some((Dialect::Osc9, true)), true));
    let open = of(Notification::Osc9, Passthrough::Everything);
    assert_eq!((dialect(&open), open.tmux.is_ok()), (Some((Dialect::Osc9, true)), false));
    assert!(open.bytes("x").starts_with(b"\x1bPtmux;\x1b\x1b]9;") && open.bytes("x").ends_with(b"\x1b\\\x07"));
    let off = of(Notification::Off, Passthrough::Everything);
    assert_eq!((dialect(&off), off.tmux.is_ok(), off.bytes("x")), (None, false, BELL.to_vec()));
}

#[test]
fn without_a_terminal_only_tmux_and_the_persons_program_are_left() {
    let config = Config { notify_command: vec!["say".to_owned()], ..Config::default() };
    let ways = Ways::of(&config, &in_tmux(), Passthrough::Nothing, false);
    assert!(ways.bell.is_err() && ways.terminal.is_err() && ways.bytes("x").is_empty());
    assert_eq!(ways.tmux.unwrap().pane.as_deref(), Some("%3"));
    assert_eq!(ways.command.unwrap(), ["say"]);
    let nothing = Ways::of(&Config::default(), &inside("dumb"), Passthrough::Nothing, false);
    assert!(nothing.tmux.is_err() && nothing.command.is_err());
}

#[test]
fn the_option_of_tmux_is_read() {
    assert_eq!(Passthrough::of_option("off\n"), Passthrough::Nothing);
    assert_eq!(Passthrough::of_option("on\n"), Passthrough::InSight);
    assert_eq!(Passthrough::of_option("all\n"), Passthrough::Everything);
    assert_eq!(Passthrough::of_option("\n"), Passthrough::Everything);
}
