//! Tests of `verdict`: the rule by table, one table a paragraph of the rule.

use pretty_assertions::assert_eq;

use super::*;

/// Each answer with the word of the verdict that it must get for `LGTM`.
#[track_caller]
fn table(rows: &[(&str, &str)]) {
    for (answer, expected) in rows {
        let verdict = stop_signal(answer, "LGTM");
        assert_eq!(verdict.word(), *expected, "{answer:?}: {}", verdict.why());
    }
}

#[test]
fn decorations_are_taken_off_when_they_are_symmetric() {
    table(&[
        ("LGTM", "match"),
        ("lgtm", "match"),
        ("  LGTM  ", "match"),
        ("LGTM.", "match"),
        ("LGTM!", "match"),
        ("**LGTM**", "match"),
        ("*LGTM*", "match"),
        ("***LGTM***", "match"),
        ("_LGTM_", "match"),
        ("__LGTM__", "match"),
        ("`LGTM`", "match"),
        ("`` LGTM ``", "match"),
        ("**LGTM.**", "match"),
        ("**LGTM**.", "match"),
        ("**`LGTM`**!", "match"),
        ("__*LGTM*__", "match"),
        ("LGTM!!", "near_miss"),
        ("LGTM?", "near_miss"),
        ("**LGTM*", "near_miss"),
        ("*LGTM", "near_miss"),
        ("****LGTM****", "near_miss"),
        ("___LGTM___", "near_miss"),
        ("** LGTM **", "near_miss"),
        ("\"LGTM\"", "near_miss"),
        ("✅ LGTM", "near_miss"),
        ("- LGTM", "near_miss"),
        ("1. LGTM", "near_miss"),
        ("# LGTM", "near_miss"),
        ("LGTMs", "none"),
        ("xLGTM", "none"),
    ]);
}

#[test]
fn the_place_is_the_first_or_last_line_or_a_paragraph_of_its_own() {
    table(&[
        ("LGTM\nGood tests, and the names are clear now.", "match"),
        ("All the points are addressed in this version.\nLGTM", "match"),
        ("All the points are addressed.\n\nLGTM\n\nThe rest of the file is as it was before.", "match"),
        ("## Verdict\nLGTM\n\n## Notes\nThe names are clear.", "match"),
        ("The diff:\n```\n+ x\n```\nLGTM\n```\n+ y\n```\nThat was it.", "match"),
        ("\n\n  \nLGTM\n\n", "match"),
        ("Reply with the word\nLGTM\nwhen the tests of the whole project have passed.", "near_miss"),
        ("The rest is fine.\n\nLGTM\nfor the first three files of this change.\n\nThe fourth is open.", "near_miss"),
        ("Here is what I would say about it:\nLGTM\n\nSee the notes for the details of that.", "near_miss"),
        ("I would say LGTM to this in principle and in practice", "none"),
    ]);
}

#[test]
fn code_and_quotes_do_not_count_but_an_open_fence_hides_nothing() {
    table(&[
        ("> LGTM", "none"),
        ("You asked for:\n\n> LGTM", "none"),
        ("  > LGTM\n\nThat is what you want to hear, I know it well.", "none"),
        ("- the word\n\n  > LGTM", "none"),
        ("```\nLGTM\n```", "none"),
        ("~~~text\nLGTM\n~~~", "none"),
        ("````\n```\nLGTM\n```\n````", "none"),
        ("- like so:\n  ```\n  LGTM\n  ```", "none"),
        ("Write this in the end:\n\n    LGTM", "none"),
        ("Write this in the end:\n\n\tLGTM", "none"),
        ("```\nLGTM", "match"),
        ("```rust\nfn main() {}\n\nLGTM", "match"),
        ("```\ncode\n```\n\nLGTM", "match"),
        ("```\nLGTM\n~~~", "near_miss"),
        ("```LGTM```", "match"),
        ("> your words\n\nLGTM", "match"),
        ("> your words\nLGTM", "near_miss"),
        (">\nLGTM", "match"),
    ]);
}

#[test]
fn a_word_inside_a_list_item_speaks_of_the_item_only() {
    table(&[
        ("Checked:\n- tests\n- names\nLGTM", "match"),
        ("Checked:\n- tests\n- names\n\nLGTM", "match"),
        ("1. Cart\n\n   LGTM\n\n2. Tax\n\n   The total is rounded twice.", "near_miss"),
        ("1. The cart rounds twice.\n2. Tax:\n   LGTM", "near_miss"),
        ("1. a\n\n        LGTM", "none"),
        ("1. a\n\n   - b\n\n     LGTM", "near_miss"),
        ("- a\n\nText again.\n\n    LGTM", "none"),
    ]);
}

#[test]
fn a_short_line_with_the_word_is_a_near_miss_unless_it_sets_a_condition() {
    table(&[
        ("Verdict: LGTM", "near_miss"),
        ("LGTM with one nit", "near_miss"),
        ("LGTM - one small nit left", "near_miss"),
        ("LGTM with one nit in checkout.rs", "none"),
        ("LGTM once the tests pass", "none"),
        ("not LGTM yet", "none"),
        ("This isn't LGTM", "none"),
        ("This isn’t LGTM", "none"),
        ("Never LGTM", "none"),
        ("No LGTM", "none"),
        ("cannot LGTM this", "none"),
        ("Almost LGTM!", "none"),
        ("LGTM, but fix it", "none"),
        ("LGTM, pending CI", "none"),
        ("LGTM except for names", "none"),
        ("LGTM however: tests", "none"),
        ("If LGTM", "none"),
        ("LGTM when green", "none"),
        ("LGTM after tests", "none"),
        ("until LGTM", "none"),
        ("unless LGTM", "none"),
        ("LGTM, notably", "near_miss"),
        ("LGTM です", "near_miss"),
        ("LGTMです", "near_miss"),
    ]);
}

#[test]
fn a_match_that_is_taken_back_is_a_near_miss() {
    table(&[
        ("LGTM\n\nbut the last test is missing, please add it to the file.", "near_miss"),
        ("LGTM\n\nGood work on the whole, and thank you.\n\nHowever, the second file is missing a test.", "near_miss"),
        ("LGTM\n\n**Except** for the name of the third function in that file.", "near_miss"),
        ("LGTM\n\nOnce you have fixed the rounding in checkout.rs, that is.", "near_miss"),
        ("LGTM\n\nAfter the rounding in checkout.rs is fixed, that is.", "near_miss"),
        ("LGTM\n\nIf you also fix the rounding in checkout.rs, that is.", "near_miss"),
        ("LGTM\nbut the last test is missing, please add it to the file.", "near_miss"),
        ("LGTM\n\n- but the last test is missing, please add it", "near_miss"),
        ("LGTM\n\nButtons are fine, and everything that belongs to them.", "match"),
        ("LGTM\n\n> But what about the tests, you asked me in your message.", "match"),
        ("LGTM\n\nGood work.\nIf you look at the names you will like them.", "match"),
        ("LGTM\n\nBut wait, let me run the tests of the project.\n\nLGTM", "match"),
    ]);
}

#[test]
fn lines_end_at_line_feeds_only() {
    table(&[
        ("Good.\r\nLGTM\r\n", "match"),
        ("Good.\r\n\r\nLGTM\r\n\r\nAll the tests of the project pass.\r\n", "match"),
        ("nit one\u{2028}LGTM", "near_miss"),
        ("nit one\u{85}LGTM", "near_miss"),
        ("one more nit about the name of the third function\u{2029}LGTM", "near_miss"),
        ("one more nit about the name of the third function\rLGTM", "near_miss"),
    ]);
}

#[test]
fn an_answer_that_says_nothing_approves_nothing() {
    table(&[("", "none"), (" \n\t\n", "none"), ("\u{200b}", "none"), ("\u{feff}\n", "none")]);
    assert_eq!(stop_signal("", "LGTM").why(), "the answer is empty");
}

#[test]
fn case_is_compared_as_unicode_has_it_and_accents_however_written() {
    for (answer, signal) in [
        ("GEPRÜFT", "geprüft"),
        ("gepru\u{308}ft", "Geprüft"),
        ("STRASSE", "straße"),
        ("ΤΕΛΟΣ", "τελος"),
        ("принято", "ПРИНЯТО"),
        ("合格", "合格"),
        ("ship it", "Ship it"),
        ("**ship it!**", "ship it"),
        ("DONE!", "DONE!"),
        ("DONE!!", "DONE!"),
        ("**OK**", "**OK**"),
        ("OK", " OK "),
    ] {
        assert_eq!(stop_signal(answer, signal).word(), "match", "{answer:?} for {signal:?}");
    }
    assert_eq!(stop_signal("DONE", "DONE!").word(), "none");
}

#[test]
fn a_signal_of_several_words_counts_as_one_and_may_hold_a_condition() {
    for (answer, expected) in [
        ("no further findings", "match"),
        ("Verdict: no further findings", "near_miss"),
        ("After four looks, no further findings", "none"),
        ("That gives us no further findings here", "near_miss"),
        ("That gives us then no further findings here", "none"),
    ] {
        assert_eq!(stop_signal(answer, "No further findings").word(), expected, "{answer:?}");
    }
}

#[test]
fn the_reason_names_line_and_place() {
    let verdict = stop_signal("Good.\n\n**LGTM**\n", "LGTM");
    assert_eq!(
        verdict,
        Verdict::Match {
            line: "**LGTM**".to_owned(),
            number: 3,
            why: "line 3, `**LGTM**`, is the signal and the last line".to_owned()
        }
    );
    let verdict = stop_signal("Fine.\n\nLGTM\n\nBut add a test for the empty cart, please do.", "LGTM");
    assert_eq!(verdict.why(), "line 3, `LGTM`, is the signal, but line 5 takes something back");
    assert_eq!(stop_signal("```\nLGTM\n```", "LGTM").why(), "the signal stands in code or in a block quote only");
}

#[test]
fn completion_is_the_only_line_with_text() {
    for (answer, expected) in [
        ("COMPLETED", "match"),
        ("\n\n **completed.** \r\n\n", "match"),
        ("`COMPLETED`", "match"),
        ("COMPLETED\nCOMPLETED", "none"),
        ("All phases are done.\n\nCOMPLETED", "none"),
        ("Phase 3 COMPLETED", "none"),
        ("> COMPLETED", "none"),
        ("```\nCOMPLETED\n```", "none"),
        ("COMPLETED\u{2028}but one is left", "none"),
        ("", "none"),
    ] {
        let verdict = completion_signal(answer, "COMPLETED");
        assert_eq!(verdict.word(), expected, "{answer:?}: {}", verdict.why());
    }
}

#[test]
fn a_signal_must_be_visible_one_line_and_recognisable() {
    for signal in ["", "  ", "\t\n", "\u{200b}", "\u{feff} "] {
        assert_eq!(check_signal(signal), Err(SignalProblem::Blank), "{signal:?}");
        assert_eq!(stop_signal("", signal).word(), "none");
        assert_eq!(stop_signal("anything", signal).word(), "none");
        assert_eq!(completion_signal("anything", signal).word(), "none");
    }
    assert_eq!(check_signal("LG\nTM"), Err(SignalProblem::SeveralLines));
    assert_eq!(check_signal("> ok"), Err(SignalProblem::NeverMatches));
    assert_eq!(check_signal("- ok"), Err(SignalProblem::NeverMatches));
    for signal in ["LGTM", " ship it ", "DONE!", "合格", "**OK**", "👍"] {
        assert_eq!(check_signal(signal), Ok(()), "{signal:?}");
    }
}
