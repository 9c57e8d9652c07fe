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
    assert_eq!(plain("say a b c now", "say d e f now"), "say -a b c-+d e f+ now\n");
}

#[test]
fn equal_texts_have_no_signs_and_lines_stay_lines() {
    assert_eq!(plain("a\n\nb", "a\n\nb"), "a\n\nb\n");
    assert_eq!(plain("a\nold line\nb", "a\nb"), "a\n-old line-\nb\n");
}

#[test]
fn a_marked_line_of_the_newer_text_gets_its_sign() {
    let rows = rows("- one\n- two", "- zero\n- one\n- two", 20, &[2]);
    let words: Vec<String> = rows.iter().map(Row::words).collect();
    assert_eq!(words.last().unwrap(), "= - two");
    assert!(words[..words.len() - 1].iter().all(|line| line.starts_with("  ")), "{words:?}");
}

#[test]
fn very_long_texts_are_compared_by_lines_and_what_is_left_out_is_said() {
    let before = "one line of it\n".repeat(60_000);
    let after = format!("a first line\n{before}");
    let text = plain(&before, &after);
    assert!(text.starts_with("+a first line+\n"));
    assert!(text.ends_with("the first 512 KiB of each are compared\n"));
}

proptest! {
    #[test]
    fn both_texts_can_be_read_out_of_a_change(before in "[a-c \\n]{0,60}", after in "[a-c \\n]{0,60}", columns in 4usize..40) {
        let kept = |fate: Fate| -> String {
            pieces(&before, &after).iter().filter(|(of, _)| *of != fate).map(|(_, words)| words.as_str()).collect()
        };
        let letters = |text: &str| text.chars().filter(|c| c.is_alphabetic()).collect::<String>();
        prop_assert_eq!(letters(&kept(Fate::Added)), letters(&before));
        prop_assert_eq!(kept(Fate::Removed), after.clone());
        for row in rows(&before, &after, columns, &[]) {
            prop_assert!(width(&row.words()) <= columns);
        }
    }
}
