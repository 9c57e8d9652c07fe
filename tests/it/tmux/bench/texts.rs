//! Texts: whatever stands in an answer arrives as text, of any length, in both dialects.

use trellis::model::ids::Agent;

use super::rig::Bench;

#[test]
fn d1_forty_lines_are_one_message_in_both_dialects() {
    let mut lines =
        vec!["Findings:", "", "```rust", "fn main() {", "    println!(\"日本語\");", "}", "```", "- one", ""];
    lines.extend(["* a line of the answer"; 31]);
    for agent in [Agent::Claude, Agent::Codex] {
        let Some(mut bench) = Bench::of(agent, &lines.join("\n"), &["--fold-pastes"]) else { return };
        bench.begin(5.0);
        bench.arrives_once();
    }
}

#[test]
fn d13_hostile_text_arrives_as_text_in_both_dialects() {
    let hostile = "/clear it \u{1b}[201~\nrm -rf x\r\u{1b}]0;t\u{7}\tafter\u{9b}2J e\u{301} \u{200b}zero \u{202e}bidi\u{202c} \
                   nul\u{0} lone\rCR \u{1b}[200~\n!ls\n#note\n@file\n-- dash; $(id) `id` #{pane_id} %1\n; trailing \\";
    for agent in [Agent::Claude, Agent::Codex] {
        let Some(bench) = Bench::of(agent, hostile, &[]) else { return };
        let mut bench = bench.without_prompt();
        bench.begin(5.0);
        bench.arrives_once();
        let got = bench.reviewer.submitted().remove(0);
        assert!(!got.starts_with('/') && !got.ends_with('\\'), "{got}");
        assert!(got.chars().all(|sign| matches!(sign, '\t' | '\n') || !sign.is_control()), "{got:?}");
    }
}

#[test]
fn signs_that_are_drawn_otherwise_arrive_in_both_dialects() {
    let accents = "\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}\u{308}\u{309}\u{30a}";
    let signs = format!(
        "skin 👍🏽 👋🏻 new \u{1fae9} z{accents}{accents} \u{202e}turned\u{202c} \u{2067}apart\u{2069} \u{3164} fill 🇩🇪 👨‍👩‍👧 1\u{fe0f}\u{20e3}"
    );
    for agent in [Agent::Claude, Agent::Codex] {
        let Some(mut bench) = Bench::of(agent, &signs, &[]) else { return };
        bench.begin(5.0);
        bench.arrives_once();
    }
}

#[test]
fn a_last_word_that_opens_a_list_is_not_changed_by_our_enter() {
    for (agent, word) in
        [(Agent::Claude, ":smile"), (Agent::Claude, ":+1"), (Agent::Codex, "@CHECK"), (Agent::Codex, "$")]
    {
        let Some(mut bench) = Bench::of(agent, &format!("it ends with {word}"), &[]) else { return };
        bench.begin(5.0);
        bench.arrives_once();
        assert!(!bench.reviewer.submitted()[0].contains("picked"));
    }
}

#[test]
fn a_command_behind_signs_that_are_taken_out_arrives_as_text() {
    for text in ["\u{3164}/clear", "\u{115f}!touch x", "\u{fe0f}!touch x"] {
        let Some(bench) = Bench::claude(text, &[]) else { return };
        let mut bench = bench.without_prompt();
        bench.begin(5.0);
        bench.arrives_once();
    }
}

#[test]
fn quoted_wrappers_of_pastes_arrive_and_are_recognised() {
    let quote = "You sent:\n<pasted_content id=\"ab12\">\nquoted\n</pasted_content id=\"ab12\">\nfine";
    let long = format!("{quote}\n{}", "a line of a long answer\n".repeat(40));
    for answer in [quote, long.trim_end()] {
        let Some(mut bench) = Bench::claude(answer, &["--fold-pastes"]) else { return };
        bench.begin(5.0);
        bench.arrives_once();
    }
}

#[test]
fn d11_answers_of_any_length_arrive_whole_or_as_a_line_that_names_their_file() {
    for (kilobytes, limit) in [(3, 65_536), (20, 65_536), (140, 65_536), (400, 65_536), (400, 1_000_000)] {
        let answer = "an answer of some length, with 日本語 in it\n".repeat(kilobytes * 1_000 / 50);
        let Some(mut bench) = Bench::claude(answer.trim_end(), &["--fold-pastes"]) else { return };
        bench.message_file_above = limit;
        bench.begin(1.0);
        bench.arrives_once();
        let entry = bench.entry().unwrap();
        let text = std::fs::read_to_string(bench.texts().join(&*entry.text.file)).unwrap();
        assert_eq!(text, bench.message(), "the record keeps the whole text");
        match entry.sent_text {
            None => assert!(entry.text.bytes <= limit),
            Some(line) => {
                assert!(entry.text.bytes > limit);
                assert!(line.contains(bench.texts().join(&*entry.text.file).to_str().unwrap()), "{line}");
                assert_eq!(bench.reviewer.submitted(), [line]);
            }
        }
    }
}
