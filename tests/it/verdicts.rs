//! Verdicts: the cases from the field, and properties over any text.

use proptest::prelude::*;
use trellis::model::config::{ADVANCE_PROMPT, RUN_REVIEW_PROMPT};
use trellis::verdict::points::{points, repeats};
use trellis::verdict::{SignalProblem, Verdict, check_signal, completion_signal, stop_signal};

#[test]
fn t5_a_line_separator_inside_a_line_makes_a_near_miss() {
    for answer in ["nit one\u{2028}LGTM", "nit one\u{85}LGTM"] {
        assert!(matches!(stop_signal(answer, "LGTM"), Verdict::NearMiss { .. }), "{answer:?}");
    }
}

#[test]
fn t7_carriage_returns_are_no_part_of_a_line() {
    assert!(stop_signal("Both fixed.\r\n\r\nLGTM\r\n", "LGTM").is_match());
    assert!(completion_signal("COMPLETED\r\n", "COMPLETED").is_match());
    assert!(stop_signal("bad bytes \u{fffd}(\r\nLGTM", "LGTM").is_match());
}

#[test]
fn l1_a_blank_signal_is_refused_and_a_prompt_that_names_the_word_gives_no_verdict() {
    for signal in ["", "  "] {
        assert_eq!(check_signal(signal), Err(SignalProblem::Blank));
        for answer in ["", "LGTM", "anything at all"] {
            assert_eq!(stop_signal(answer, signal).word(), "none");
            assert_eq!(completion_signal(answer, signal).word(), "none");
        }
    }
    let review = RUN_REVIEW_PROMPT.replace("{review_stop_signal}", "LGTM");
    assert_eq!(stop_signal(&review, "LGTM").word(), "none");
    let advance = ADVANCE_PROMPT.replace("{completion_signal}", "COMPLETED");
    assert_eq!(completion_signal(&advance, "COMPLETED").word(), "none");
}

#[test]
fn l3_decorations_match_and_signs_before_the_word_are_asked_about() {
    for answer in ["**LGTM**", "`LGTM`", "LGTM."] {
        assert_eq!(stop_signal(answer, "LGTM").word(), "match", "{answer}");
    }
    for answer in ["✅ LGTM", "- LGTM"] {
        assert_eq!(stop_signal(answer, "LGTM").word(), "near_miss", "{answer}");
    }
}

#[test]
fn l5_an_answer_without_words_never_approves() {
    for answer in ["", " ", "\n\n", "\u{200b}", "![diagram](x.png)"] {
        assert_eq!(stop_signal(answer, "LGTM").word(), "none", "{answer:?}");
        assert_eq!(completion_signal(answer, "COMPLETED").word(), "none", "{answer:?}");
    }
}

#[test]
fn long_hostile_answers_take_no_longer_than_their_length_allows() {
    // Each of these made a naive reader look at the rest of the text once a line.
    let started = std::time::Instant::now();
    for unit in [
        "```a\n",
        "~~~\n```\n",
        "> x\n",
        "- ",
        "- x\n",
        "*",
        "`",
        "_*",
        "LGTM ",
        "LGTM-",
        "not-LGTM-",
        "LGTM\n",
        "    LGTM\n",
        "\r",
        "\u{2028}LGTM",
    ] {
        let answer = unit.repeat(100_000 / unit.len());
        let _ = stop_signal(&answer, "LGTM");
        let _ = completion_signal(&answer, "LGTM");
        let _ = points(&answer, "LGTM");
    }
    assert!(started.elapsed().as_secs() < 20, "took {:?}", started.elapsed());
}

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("LGTM".to_owned()),
        Just("\n".to_owned()),
        Just("\n\n".to_owned()),
        Just("```".to_owned()),
        Just("~~~~".to_owned()),
        Just("> ".to_owned()),
        Just("    ".to_owned()),
        Just("\t".to_owned()),
        Just("- ".to_owned()),
        Just("1. ".to_owned()),
        Just("**".to_owned()),
        Just("`".to_owned()),
        Just("\r".to_owned()),
        Just("\u{2028}".to_owned()),
        Just("but ".to_owned()),
        Just("---".to_owned()),
        Just("# ".to_owned()),
        Just(".".to_owned()),
        "\\PC{0,6}",
        any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_text_panics_and_every_verdict_has_a_reason(answer in pieces(), signal in pieces()) {
        for signal in ["LGTM", signal.as_str()] {
            for verdict in [stop_signal(&answer, signal), completion_signal(&answer, signal)] {
                prop_assert!(!verdict.why().is_empty());
            }
            let _ = check_signal(signal);
        }
        let named = points(&answer, "LGTM");
        prop_assert_eq!(repeats(&named, &named).len(), named.len());
    }

    #[test]
    fn a_line_that_is_named_stands_in_the_answer(answer in pieces()) {
        if let Verdict::Match { line, number, .. } | Verdict::NearMiss { line, number, .. } = stop_signal(&answer, "LGTM") {
            let there = answer.split('\n').nth(number - 1).unwrap_or_default();
            let kept: String = there.trim().chars().take(200).collect();
            prop_assert_eq!(&line, &kept);
            prop_assert!(line.to_lowercase().contains("lgtm"));
        }
    }

    #[test]
    fn what_stands_in_code_or_quotes_never_counts(text in "[a-zA-Z LGTM\n]{0,80}") {
        let body = format!("{text}\nLGTM\n{text}");
        let fenced = format!("The tests are not there yet, please see below for what is missing.\n```\n{body}\n```");
        let quoted: Vec<String> = body.lines().map(|line| format!("> {line}")).collect();
        for answer in [fenced, quoted.join("\n")] {
            prop_assert_eq!(stop_signal(&answer, "LGTM").word(), "none", "{}", answer);
        }
    }

    #[test]
    fn a_word_that_stands_alone_matches_whatever_its_case(signal in "[\\p{L}]{1,12}", other in "[\\p{L}]{1,12}") {
        prop_assume!(check_signal(&signal).is_ok());
        for answer in [signal.clone(), format!("**{}**", signal.to_uppercase()), format!("Fine.\n{}!", signal.to_lowercase())] {
            prop_assert!(stop_signal(&answer, &signal).is_match(), "{} for {}", answer, signal);
        }
        let lower = |text: &str| text.to_uppercase().to_lowercase();
        prop_assume!(lower(&other) != lower(&signal) && !lower(&other).contains(&lower(&signal)));
        prop_assert!(!stop_signal(&other, &signal).is_match() || other.len() < 8);
    }
}
