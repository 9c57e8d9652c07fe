//! Tests of `agent::headless::whose`: which processes are an agent's program, and which only have its words.

use super::*;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn judged(agent: Agent, file: &str, line: &str) -> Whose {
    let file = (!file.is_empty()).then(|| Path::new(file));
    whose(agent, file, &words(line), Some(Path::new("/opt/cc/mine")))
}

#[test]
fn a_program_is_told_by_its_file_and_not_by_its_words() {
    for (file, line, wanted) in [
        // Installed by itself, by npm, by a package manager; replaced while it runs.
        ("/home/u/.local/share/claude/versions/2.1.332", "claude --resume u-1", Whose::Agent),
        ("/home/u/.local/share/claude/versions/2.1.332", "/home/u/.local/bin/cl --resume u-1", Whose::Agent),
        ("/n/@anthropic-ai/claude-code/bin/claude.exe", "/n/.bin/claude --resume u-1", Whose::Agent),
        ("/usr/bin/node", "node /n/@anthropic-ai/claude-code/cli.js --resume u-1", Whose::Agent),
        ("/usr/bin/node", "node --max-old-space-size=4096 /n/bin/claude --resume u-1", Whose::Agent),
        ("/nix/store/x/bin/.claude-wrapped", "/nix/store/x/bin/claude --resume u-1", Whose::Agent),
        ("", "claude --resume u-1", Whose::Agent),
        ("/opt/cc/mine", "mine --resume u-1", Whose::Agent),
        // A wrapper that a shell runs; a launcher.
        ("/usr/bin/dash", "/bin/sh /home/u/bin/claude --resume u-1", Whose::Agent),
        ("/usr/bin/env", "env A=b claude --resume u-1", Whose::Agent),
        ("/usr/bin/setsid", "setsid /opt/cc/mine -p --resume u-1", Whose::Agent),
        // Something that may run it.
        ("/usr/bin/python3.11", "python3 /x/turn.py claude --resume u-1", Whose::Untold),
        ("/usr/bin/dash", "sh /x/start --resume u-1", Whose::Untold),
        ("/usr/bin/setsid", "setsid /x/start -p --resume u-1", Whose::Untold),
        ("/usr/bin/claude-squad", "claude-squad --resume u-1", Whose::Untold),
        ("", "", Whose::Untold),
        // Its words alone.
        ("/usr/bin/tmux", "tmux -L x new-session claude --resume u-1", Whose::Another),
        ("", "tmux new claude --resume u-1", Whose::Another),
        ("/usr/bin/bash", "bash -c true x --resume u-1", Whose::Another),
        ("/usr/bin/bash", "-bash -lc true x --resume u-1", Whose::Another),
        ("/usr/bin/python3.11", "python3 -c 1 --resume u-1", Whose::Another),
        ("/usr/bin/node", "node --eval 1 --resume u-1", Whose::Another),
        ("/usr/bin/vim", "vim --resume u-1", Whose::Another),
        ("/home/claude/bin/tool", "tool --resume u-1", Whose::Another),
        ("/usr/bin/codex", "codex --resume u-1", Whose::Another),
    ] {
        assert_eq!(judged(Agent::Claude, file, line), wanted, "{file}: {line}");
    }
    for (file, line, wanted) in [
        ("/n/@openai/codex/vendor/x86_64-unknown-linux-musl/codex/codex", "codex resume u-1", Whose::Agent),
        ("/usr/local/bin/codex-x86_64-unknown-linux-musl", "cx resume u-1", Whose::Agent),
        ("/usr/bin/node", "node /n/@openai/codex/bin/codex.js resume u-1", Whose::Agent),
        ("/usr/bin/tmux", "tmux new codex resume u-1", Whose::Another),
        ("/usr/bin/bash", "bash -c true x resume u-1", Whose::Another),
        ("/usr/bin/python3", "python3 /x/turn.py codex exec resume u-1", Whose::Untold),
    ] {
        assert_eq!(judged(Agent::Codex, file, line), wanted, "{file}: {line}");
    }
}
