//! What the agents give their hooks, as Claude Code 2.1.332 and Codex 0.171.0 write it.

use super::*;

const CLAUDE: &str = r#"{"session_id":"d597c3e8","transcript_path":"/h/.claude/projects/-w/d597c3e8.jsonl","cwd":"/w","prompt_id":"b5","permission_mode":"default","effort":{"level":"medium"},"hook_event_name":"PermissionRequest","tool_name":"Write","tool_input":{"file_path":"/w/../x.txt","content":"hello"},"permission_suggestions":[{"type":"setMode"}]}"#;
const CODEX: &str = r#"{"session_id":"01a22d0e","turn_id":"t","transcript_path":"/h/.codex/sessions/2026/11/30/r.jsonl","cwd":"/w","hook_event_name":"PermissionRequest","model":"m","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"touch /etc/x\nrm y","description":"May I touch it?"}}"#;

#[test]
fn an_open_dialog_says_what_is_asked() {
    let of = |agent, json: &str| read(agent, json.as_bytes()).unwrap();
    let claude = of(Agent::Claude, CLAUDE);
    assert_eq!(claude.event, HookEvent::Asks { what: "Write: /w/../x.txt".to_owned() });
    assert_eq!((claude.session.worktree.as_str(), claude.session.session_id.as_str()), ("/w", "d597c3e8"));
    assert_eq!(claude.transcript.as_deref(), Some("/h/.claude/projects/-w/d597c3e8.jsonl"));
    assert_eq!(of(Agent::Codex, CODEX).event, HookEvent::Asks { what: "Bash: touch /etc/x".to_owned() });
    let with =
        |input: &str| of(Agent::Claude, &CLAUDE.replace(r#"{"file_path":"/w/../x.txt","content":"hello"}"#, input));
    for (input, what) in [
        ("null", "Write"),
        ("{\"other\":1}", "Write"),
        ("{\"command\":[\"rm\",\"-r\",\"x\"]}", "Write: rm -r x"),
        ("{\"command\":\"\\u001b]0;x\\u0007y\"}", "Write: ]0;xy"),
    ] {
        assert_eq!(with(input).event, HookEvent::Asks { what: what.to_owned() }, "{input}");
    }
}

#[test]
fn what_is_no_call_of_a_hook_is_nothing() {
    for json in ["", "null", "[]", "{", "{}", "\u{0}", r#"{"session_id":1,"hook_event_name":"Stop"}"#] {
        assert_eq!(read(Agent::Claude, json.as_bytes()), None, "{json}");
    }
    let other = CLAUDE.replace("PermissionRequest", "PreToolUse");
    assert_eq!(read(Agent::Claude, other.as_bytes()), None);
    let start = CLAUDE.replace("PermissionRequest", "SessionStart");
    assert_eq!(read(Agent::Claude, start.as_bytes()).unwrap().event, HookEvent::Started);
}
