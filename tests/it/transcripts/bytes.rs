//! Bytes as crashes, editors and foreign programs leave them.

use trellis::model::conversation::{Conversation, Turn};
use trellis::model::ids::{Agent, RecordId};
use trellis::transcript::{Reader, read_all, unzst};
use trellis::verdict;

use super::fixtures::sample;
use super::{read, render};

fn user(uuid: &str, text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!(
        r#"{{"parentUuid":null,"isSidechain":false,"type":"user","message":{{"role":"user","content":{text}}},"uuid":"{uuid}","timestamp":"2026-11-30T10:00:00Z","origin":{{"kind":"human"}},"promptSource":"typed","entrypoint":"cli","cwd":"/w","sessionId":"s"}}"#
    )
}

fn assistant(uuid: &str, text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!(
        r#"{{"parentUuid":null,"isSidechain":false,"message":{{"id":"msg_{uuid}","role":"assistant","model":"m","content":[{{"type":"text","text":{text}}}],"stop_reason":"end_turn"}},"type":"assistant","uuid":"{uuid}","timestamp":"2026-11-30T10:00:01Z","entrypoint":"cli","cwd":"/w","sessionId":"s"}}"#
    )
}

fn texts(told: &Conversation) -> Vec<String> {
    told.turns.iter().map(Turn::whole_text).collect()
}

fn claude(bytes: &[u8]) -> Conversation {
    read_all(Agent::Claude, bytes)
}

#[test]
fn t1_a_torn_last_line_is_pending_and_a_bad_line_hides_nothing() {
    let mut lines: Vec<String> = vec![user("u", "go")];
    lines.extend((1..300).map(|n| assistant(&format!("a{n}"), &format!("message {n}"))));
    let whole = format!("{}\n", lines.join("\n"));
    let last = assistant("last", "the message that was cut");
    let (front, rest) = last.split_at(last.find("cut").unwrap());

    let mut reader = Reader::new(Agent::Claude);
    reader.push(whole.as_bytes());
    reader.push(front.as_bytes());
    let torn = reader.conversation();
    assert_eq!((torn.turns[0].items.len(), torn.damaged), (299, 0));
    assert_eq!(torn.length, whole.len() as u64);
    assert_eq!(reader.consumed(), torn.length);

    reader.push(rest.as_bytes());
    assert_eq!(reader.conversation().length, torn.length, "still without its end");
    reader.push(b"\n");
    let told = reader.conversation();
    assert_eq!(told.turns[0].items.len(), 300);
    assert_eq!(told.turns[0].answer.as_ref().unwrap().text.as_ref(), "the message that was cut");
    assert_eq!(told.offset_of(&RecordId::new("last")), Some(whole.len() as u64));

    lines.insert(100, "{\"type\":\"assistant\",\"mess".to_owned());
    let told = claude(format!("{}\n", lines.join("\n")).as_bytes());
    assert_eq!((told.turns[0].items.len(), told.damaged), (299, 1));
}

#[test]
fn t3_nul_bytes_in_the_middle_behind_a_record_and_at_the_end() {
    let mut bytes = user("u", "go").into_bytes();
    bytes.push(b'\n');
    bytes.extend([0; 4096]);
    bytes.extend(assistant("a", "first").into_bytes());
    bytes.extend([0; 5000]);
    bytes.push(b'\n');
    bytes.extend(assistant("b", "second").into_bytes());
    bytes.extend([0; 300]);
    bytes.extend(assistant("c", "third").into_bytes());
    bytes.extend(b"\r\n");
    bytes.extend(b"{\"type\":\"user\",\"mes");
    bytes.extend([0; 100]);
    bytes.extend(assistant("d", "fourth").into_bytes());
    bytes.push(b'\n');
    bytes.resize(bytes.len() + 143_000, 0);
    bytes.push(b'\n');
    let told = claude(&bytes);
    assert_eq!(texts(&told), ["first\nsecond\nthird\nfourth"]);
    assert_eq!(told.damaged, 1, "only the torn one");
    assert_eq!(told.length, bytes.len() as u64);
    let offset = told.offset_of(&RecordId::new("c")).unwrap();
    assert!(bytes[usize::try_from(offset).unwrap()..].starts_with(assistant("c", "third").as_bytes()));
}

#[test]
fn t5_only_a_newline_ends_a_line() {
    for separator in ["\u{2028}", "\u{2029}", "\u{85}", "\u{b}", "\u{c}"] {
        let text = format!("nit one{separator}LGTM");
        let told = read(Agent::Claude, &[&user("u", "review"), &assistant("a", &text)]);
        assert_eq!(told.damaged, 0);
        let answer = told.turns[0].answer.as_ref().unwrap();
        assert_eq!(answer.text.as_ref(), text, "{separator:?}");
        assert!(!matches!(verdict::stop_signal(&answer.text, "LGTM"), verdict::Verdict::Match { .. }));
    }
}

#[test]
fn t7_crlf_and_bad_bytes_keep_offsets_in_bytes() {
    let mut bytes = format!("\u{feff}{}\r\n", user("u", "go")).into_bytes();
    let mut bad = assistant("a", "one @@ two").into_bytes();
    let at = bad.windows(2).position(|pair| pair == b"@@").unwrap();
    bad.splice(at..at + 2, [0xc3, 0x28]);
    bytes.extend(bad);
    bytes.extend(b"\r\n");
    let third = bytes.len() as u64;
    bytes.extend(assistant("b", "nits fixed\r\nLGTM\r\n").into_bytes());
    bytes.extend(b"\r\n");
    let told = claude(&bytes);
    assert_eq!((told.damaged, told.length), (0, bytes.len() as u64));
    assert_eq!(told.turns[0].prompt.record.offset, 3);
    assert_eq!(told.turns[0].items.len(), 2);
    assert!(told.turns[0].whole_text().starts_with("one \u{fffd}( two"));
    assert_eq!(told.offset_of(&RecordId::new("b")), Some(third));
    let answer = told.turns[0].answer.as_ref().unwrap();
    assert_eq!(answer.text.as_ref(), "nits fixed\r\nLGTM");
}

#[test]
fn lone_surrogates_cost_no_line() {
    let line = assistant("a", "x").replace("\"x\"", r#""half \ud83d of a pair, and a whole \ud83d\ude00""#);
    let told = read(Agent::Claude, &[&user("u", "go"), &line]);
    assert_eq!(texts(&told), ["half \u{fffd} of a pair, and a whole 😀"]);
    assert_eq!(told.damaged, 0);
}

#[test]
fn two_records_on_one_line_are_two() {
    let bookkeeping = r#"{"type":"mode","mode":"normal","sessionId":"s"}"#;
    let glued = format!("{bookkeeping}{}  {}{bookkeeping}", user("u", "go"), assistant("a", "done"));
    let told = read(Agent::Claude, &[&glued]);
    assert_eq!((texts(&told), told.damaged), (vec!["done".to_owned()], 0));
    let offset = told.offset_of(&RecordId::new("u")).unwrap();
    assert_eq!(offset, bookkeeping.len() as u64);

    // A process was killed in the middle of a record, the next one wrote on in the same line.
    let torn = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"lost"#;
    let told = read(Agent::Claude, &[&user("u", "go"), &format!("{torn}{}", assistant("a", "done"))]);
    assert_eq!((texts(&told), told.damaged), (vec!["done".to_owned()], 1));
}

#[test]
fn an_object_inside_a_torn_record_is_no_record() {
    let inner = assistant("inner", "LGTM");
    for torn in [
        format!(r#"{{"type":"progress","data":{{"message":{inner},"more":"#),
        format!(r#"{{"type":"progress","data":[{inner}],"more"#),
        format!("[{inner}]"),
    ] {
        let told = read(Agent::Claude, &[&user("u", "go"), &torn]);
        assert_eq!((texts(&told), told.damaged), (vec![String::new()], 1), "{torn}");
    }
}

#[test]
fn a_line_of_many_megabytes_is_one_record() {
    let text = "0123456789abcdef\n".repeat(512 * 1024);
    let mut reader = Reader::new(Agent::Claude);
    let bytes = format!("{}\n{}\n", user("u", "go"), assistant("a", &text)).into_bytes();
    for chunk in bytes.chunks(65_536) {
        reader.push(chunk);
    }
    assert_eq!(reader.conversation().turns[0].answer.as_ref().unwrap().text.len(), text.trim().len());
}

#[test]
fn very_many_glued_records_take_no_quadratic_time() {
    let line = r#"{"type":"mode"}"#.repeat(200_000);
    let told = read(Agent::Claude, &[&line, &"{\"type\":".repeat(100_000), &"[".repeat(1_000_000)]);
    assert_eq!(told.damaged, 2);
}

#[test]
fn t23_a_packed_rollout_reads_like_the_plain_one() {
    let plain = sample(Agent::Codex, "03-tool-turn");
    let mut packed = ruzstd::encoding::compress_to_vec(plain.as_slice(), ruzstd::encoding::CompressionLevel::Fastest);
    let bytes = unzst(packed.as_slice()).unwrap();
    assert_eq!(render(&read_all(Agent::Codex, &bytes)), render(&read_all(Agent::Codex, &plain)));

    packed.extend(ruzstd::encoding::compress_to_vec(
        b"{}\n".as_slice(),
        ruzstd::encoding::CompressionLevel::Uncompressed,
    ));
    assert_eq!(unzst(packed.as_slice()).unwrap().len(), plain.len() + 3, "frames follow each other");
    assert!(unzst(b"no zstd at all".as_slice()).is_err());
    assert!(unzst(&packed[..packed.len() / 2]).is_err(), "a torn file is said, not shown as a short one");
}

#[test]
fn t29_valid_json_that_is_no_record_is_counted() {
    let odd = [
        "42",
        "\"text\"",
        "[1,2,3]",
        "null",
        "{}",
        r#"{"foo":"bar"}"#,
        r#"{"tpye":"user","message":{"content":"misspelt"}}"#,
        r#"{"type":7,"uuid":"x"}"#,
    ];
    for (agent, more) in [
        (
            Agent::Claude,
            vec![
                r#"{"type":"user","message":"a string","uuid":"o1"}"#,
                r#"{"type":"assistant","message":["a"],"uuid":"o2"}"#,
                r#"{"type":"assistant","message":{"content":{"x":1}},"uuid":"o3","timestamp":5}"#,
                r#"{"type":"user","message":{"content":[1,"two",null,{"type":"tool_result","content":[{"todos":[1,"a",{}]}]}]},"toolUseResult":{"oldTodos":["mixed",1,null]},"uuid":"o4"}"#,
                r#"{"type":"user","type":"user","message":{"content":7},"uuid":["o5"]}"#,
                r#"{"type":"summary","summary":3}"#,
                r#"{"type":"brand-new","uuid":"o6"}"#,
            ],
        ),
        (
            Agent::Codex,
            vec![
                r#"{"type":"event_msg"}"#,
                r#"{"type":"event_msg","payload":"a string"}"#,
                r#"{"type":"event_msg","payload":{"type":"item_completed","item":[1]}}"#,
                r#"{"type":"response_item","payload":{"type":"message","role":"user","content":7}}"#,
                r#"{"type":"response_item","payload":{"type":"function_call","arguments":"not json","call_id":3}}"#,
                r#"{"type":"brand-new","payload":null}"#,
            ],
        ),
    ] {
        let lines: Vec<&str> = odd.iter().copied().chain(more).collect();
        let told = read(agent, &lines);
        assert_eq!(told.damaged, odd.len() as u64, "{agent}");
        assert_eq!(told.unknown.get("brand-new"), Some(&1), "{agent}");
        assert!(told.unknown.values().sum::<u64>() >= 3, "{agent}: {:?}", told.unknown);
    }
}
