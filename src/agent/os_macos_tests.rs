//! Tests of `agent::os::macos`.

use super::*;

#[test]
fn a_line_of_ps_is_read() {
    let line = "  812   455   812   812 ttys003  S+   Mon Nov 30 11:58:04 2026     /opt/homebrew/bin/codex";
    let seen = parse_process(line).unwrap();
    assert_eq!((seen.pid, seen.parent, seen.name.as_str()), (812, 455, "codex"));
    assert_eq!(seen.terminal.as_deref(), Some("/dev/ttys003"));
    assert!(seen.foreground);
    assert_eq!(seen.start_mark, "Mon Nov 30 11:58:04 2026");
    assert!(seen.started_at.is_some());
    assert_eq!(parse_process("  812   455   812   812 ??  Z   Mon Nov 30 11:58:04 2026   x"), None);
}

#[test]
fn values_with_spaces_stay_whole() {
    let read = parse_environment(" HOME=/Users/dev TITLE=two words TMUX=/tmp/tmux-501/default,77,0");
    assert_eq!(read.get("TITLE").map(String::as_str), Some("two words"));
    assert_eq!(read.get("TMUX").map(String::as_str), Some("/tmp/tmux-501/default,77,0"));
}

#[test]
fn a_file_that_is_only_read_is_not_among_the_written_ones() {
    let listed =
        "p812\nfcwd\na \nn/Users/dev\nf4\nau\nn/Users/dev/a.jsonl\nf5\nar\nn/Users/dev/b.jsonl\nf6\naw\nn->0x12\n";
    assert_eq!(parse_written(listed), [PathBuf::from("/Users/dev/a.jsonl")]);
}

#[test]
fn lsof_names_are_paths_only() {
    assert_eq!(parse_names("p812\nfcwd\nn/Users/dev/p\nn127.0.0.1:80\n"), [PathBuf::from("/Users/dev/p")]);
}
