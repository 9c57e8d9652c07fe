//! How a change reads.

use proptest::prelude::*;

use super::*;
use crate::ui::width::width;

#[test]
fn words_that_came_and_went_have_signs() {
    let text = plain("the total rounds twice, badly", "the total rounds once");
    assert_eq!(text, "the total rounds -twice, badly-+once+\n");
    assert_eq!(counts("the total rounds twice, badly", "the total rounds once"), (1, 2));
}

#[test]
fn changes_with_a_blank_between_are_one() {
    assert_eq!(
        plain("please say it now: a b c, and no more", "please say it now: d e f, and no more"),
        "please say it now: -a b c-+d e f+, and no more\n"
    );
}

#[test]
fn equal_texts_have_no_signs_and_lines_stay_lines() {
    assert_eq!(plain("a\n\nb", "a\n\nb"), "a\n\nb\n");
    assert_eq!(plain("a\nold line\nb", "a\nb"), "  a\n- old line\n  b\n");
}

/// Word by word two answers about other things are a mosaic of `the` and `a`: nobody can read either of them.
#[test]
fn unlike_texts_are_shown_whole_with_signs_at_the_edge() {
    let before = "The total is rounded twice, once in the loop.\n\nThe key of the request is missing.\n\nSee the docs.";
    let after =
        "An empty cart should cost nothing, and the test says so.\n\nNo remark about the names.\n\nSee the docs.";
    assert_eq!(
        plain(before, after),
        "- The total is rounded twice, once in the loop.\n-\n- The key of the request is missing.\n\
         + An empty cart should cost nothing, and the test says so.\n+\n+ No remark about the names.\n\n  See the docs.\n"
    );
    // Every row of a long line says what became of it, without colour too.
    let rows = rows(before, after, 20, &[2]);
    let words: Vec<String> = rows.iter().map(Row::words).collect();
    let edges: String = words.iter().filter_map(|line| line.chars().next()).collect();
    assert_eq!(edges.replace(' ', ""), "-".repeat(7) + &"+".repeat(7), "{words:#?}");
    assert!(words.iter().any(|line| line == "+= No remark about"), "{words:#?}");
}

#[test]
fn a_change_inside_one_of_two_paragraphs_stays_a_change_of_words() {
    let before = "The total is rounded twice, once in the loop.\n\nThe key of the request is missing.";
    let after = "The total is rounded once, after the loop.\n\nNothing else was found in here today.";
    assert_eq!(
        plain(before, after),
        "  The total is rounded -twice-+once+, -once in-+after+ the loop.\n\n\
         - The key of the request is missing.\n+ Nothing else was found in here today.\n"
    );
    // A paragraph that came in front moves the others, which are compared with their own all the same.
    let moved = format!("A sentence that came first.\n\n{before}");
    assert!(plain(before, &moved).starts_with("+ A sentence that came first.\n"));
}

#[test]
fn a_marked_line_of_the_newer_text_gets_its_sign() {
    let rows = rows("- one\n- two", "- zero\n- one\n- two", 20, &[2]);
    let words: Vec<String> = rows.iter().map(Row::words).collect();
    assert_eq!(words, ["+  - zero", "   - one", " = - two"]);
}

#[test]
fn very_long_texts_are_compared_by_lines_and_what_is_left_out_is_said() {
    let before = "one line of it\n".repeat(60_000);
    let after = format!("a first line\n{before}");
    let text = plain(&before, &after);
    assert!(text.starts_with("+ a first line\n"));
    assert!(text.ends_with("the first 512 KiB of each are compared\n"));
}

proptest! {
    #[test]
    fn both_texts_can_be_read_out_of_a_change(before in "[a-c \\n]{0,60}", after in "[a-c \\n]{0,60}", columns in 4usize..40) {
        let kept = |fate: Fate| -> String {
            let pieces = pieces(&head(&before), &head(&after)).into_iter();
            pieces.filter(|piece| piece.fate != fate).map(|piece| piece.text).collect()
        };
        let letters = |text: &str| text.chars().filter(|c| c.is_alphabetic()).collect::<String>();
        prop_assert_eq!(letters(&kept(Fate::Added)), letters(&before));
        prop_assert_eq!(kept(Fate::Removed), head(&after));
        for row in rows(&before, &after, columns, &[]) {
            prop_assert!(width(&row.words()) <= columns);
        }
    }
}
