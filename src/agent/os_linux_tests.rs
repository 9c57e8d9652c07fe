//! Tests of `agent::os::linux`.

use super::*;

#[test]
fn a_name_with_parentheses_does_not_shift_the_fields() {
    let line = "77 (a) b (c) S 11 77 77 34817 77 4194304 1 2 3 4 5 6 7 8 20 0 9 0 106377 1 2";
    let seen = parse_stat(77, line).unwrap();
    assert_eq!(seen.name, "a) b (c");
    assert_eq!(seen.parent, 11);
    assert_eq!(seen.terminal.as_deref(), Some("/dev/pts/1"));
    assert_eq!(seen.start_mark, "106377");
    assert!(seen.foreground);
    assert!(!seen.stopped);
}

#[test]
fn a_stopped_one_is_told_and_a_zombie_is_none() {
    let line = |state: &str| format!("77 (x) {state} 11 77 77 0 -1 0 1 2 3 4 5 6 7 8 20 0 9 0 5 1 2");
    assert!(parse_stat(77, &line("T")).unwrap().stopped);
    assert!(!parse_stat(77, &line("T")).unwrap().foreground);
    assert_eq!(parse_stat(77, &line("Z")), None);
}

#[test]
fn torn_lines_are_none() {
    assert_eq!(parse_stat(1, ""), None);
    assert_eq!(parse_stat(1, "1 (x) S 2"), None);
}

#[test]
fn a_process_between_two_programs_keeps_its_words() {
    // One process that becomes the same program again and again: its words are gone for an instant each time.
    let again = r#"[ "$1" -gt 0 ] && exec /bin/sh -c "$0" $(($1 - 1)) --resume an-id"#;
    let mut child = std::process::Command::new("/bin/sh");
    let mut child = child.args(["-c", again, "1000", "--resume", "an-id"]).spawn().unwrap();
    while child.try_wait().unwrap().is_none() {
        let (words, variables) = (argv(child.id()), environment(child.id()));
        // At its end it has no program any more, and no words.
        if executable(child.id()).is_some() {
            assert!(words.iter().flatten().any(|word| word == "an-id"), "{words:?}");
            assert!(variables.iter().any(|seen| seen.contains_key("PATH")), "{variables:?}");
        }
    }
}

#[test]
fn a_process_is_its_effective_users() {
    let status = "Name:\ta Uid: b\nUmask:\t0022\nUid:\t1000\t65534\t0\t0\nGid:\t1\t2\t3\t4\n";
    assert_eq!(parse_user(status), Some(65534));
    assert_eq!(parse_user("Name:\tx\n"), None);
    assert_eq!(user(std::process::id()), Some(rustix::process::geteuid().as_raw()));
}

#[test]
fn a_clock_that_was_set_back_moves_the_boot_with_it_and_a_wavering_one_does_not() {
    assert_eq!(earlier(None, Some(1_000)), Some(1_000));
    assert_eq!(earlier(Some(1_000), Some(999)), Some(1_000), "it wavers by a second");
    assert_eq!(earlier(Some(1_000), Some(400)), Some(400), "the clock was set back");
    assert_eq!(earlier(Some(1_000), Some(9_000)), Some(1_000), "no process is younger than its turn because of it");
    assert_eq!(earlier(Some(1_000), None), Some(1_000));
}
