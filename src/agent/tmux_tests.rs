//! Tests of `agent::tmux`.

use super::*;

#[test]
fn d19_only_a_percent_sign_and_a_number_names_a_pane() {
    for bad in ["", "-X", "%", "%9999999999", "work:9.9", "%1 ; kill-server", "1", "%1x", "=%1"] {
        assert_eq!(PaneId::new(bad), None, "{bad}");
    }
    assert!(PaneId::new("%0").is_some());
    assert!(PaneId::new("%9999").is_some());
}

#[test]
fn the_variable_names_the_socket_even_with_commas() {
    assert_eq!(socket_of("/tmp/tmux-0/default,77,0"), Some(PathBuf::from("/tmp/tmux-0/default")));
    assert_eq!(socket_of("/tmp/a,b/s,77,0"), Some(PathBuf::from("/tmp/a,b/s")));
    assert_eq!(socket_of("nonsense"), None);
    assert_eq!(socket_of(""), None);
}

#[test]
fn a_pane_is_read_whatever_its_title_and_session_hold() {
    let server = Server::at("/s");
    let line = "11 1796039883 %1 12 /dev/pts/3 @2 0 1 0 0 -copy-mode 2 11 $4 my work\u{1f}claude\u{1f}[ ! ] a \u{1f} b";
    let pane = Pane::parse(&server, line).unwrap();
    assert_eq!(pane.mode.as_deref(), Some("copy-mode"));
    assert_eq!((pane.index, pane.height, pane.session_id.as_str(), pane.session.as_str()), (2, 11, "$4", "my work"));
    assert_eq!(pane.command, "claude");
    assert_eq!(pane.title, "[ ! ] a \u{1f} b");
    assert_eq!(pane.refuses(), None);
    assert!(!pane.is_in_foreign_mode());
    let tree = Pane { mode: Some(String::from("tree-mode")), ..pane.clone() };
    assert!(tree.is_in_foreign_mode());
    assert!(Pane { synchronized: true, ..pane.clone() }.refuses().is_some());
    assert_eq!(Pane::parse(&server, "11 x"), None);
}

#[test]
fn the_named_server_comes_first_then_the_one_around_us() {
    let mut where_ = Whereabouts { folder: Some(PathBuf::from("/nowhere")), ..Whereabouts::default() };
    assert!(where_.preferred().socket().ends_with("default"));
    where_.inside = Some(String::from("/x/s,1,0"));
    assert_eq!(where_.preferred().socket(), Path::new("/x/s"));
    where_.named = Some(String::from("mine"));
    assert!(where_.preferred().socket().ends_with("mine"));
    where_.named = Some(String::from("/y/mine"));
    assert_eq!(where_.preferred().socket(), Path::new("/y/mine"));
    assert_eq!(where_.servers().len(), 2);
}
