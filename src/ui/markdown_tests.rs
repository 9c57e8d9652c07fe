//! Markdown as people read it in a narrow column.

use proptest::prelude::*;

use super::*;

fn shown(source: &str, columns: usize) -> String {
    rows(source, columns).iter().map(|row| row.words().trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

#[test]
fn lists_hang_and_nest() {
    let source =
        "Two remarks:\n\n1. no idempotency key here\n   - nested point\n2. the total rounds twice\n\nThat is all.";
    assert_eq!(
        shown(source, 20),
        "Two remarks:\n\n1. no idempotency\n   key here\n   - nested point\n2. the total rounds\n   twice\n\nThat is all."
    );
}

#[test]
fn code_is_verbatim_and_slides() {
    let page = rows("See:\n\n```rust\nlet t = round(sum);   // a long comment here\n\tindented\n```\nEnd", 20);
    let code: Vec<&Row> = page.iter().filter(|row| row.slides).collect();
    assert_eq!(code[0].words(), "│ let t = round(sum);   // a long comment here");
    assert_eq!(code[1].words(), "│     indented");
    assert_eq!(page.last().unwrap().words(), "End");
}

#[test]
fn diffs_have_signs_and_tones() {
    let page = rows("```diff\n+new\n-old\n same\n```", 20);
    let tones: Vec<Tone> = page.iter().map(|row| row.body[0].tone()).collect();
    assert_eq!(tones, [Tone::Added, Tone::Removed, Tone::Code]);
}

#[test]
fn headings_emphasis_quotes_links_and_tables() {
    let source = "# Top\nA **bold** and *soft* word with `code`.\n\n> quoted words\n\n[spec](http://x.example)\n\n| a | bb |\n|---|---|\n| 1 | 語 |";
    assert_eq!(
        shown(source, 60),
        "Top\nA bold and soft word with `code`.\n\n│ quoted words\n\nspec <http://x.example>\n\na  bb\n─  ──\n1  語"
    );
    assert!(rows(source, 60).iter().flat_map(|row| &row.body).any(|span| span.tone() == Tone::Emphasis));
}

#[test]
fn a_newline_in_a_paragraph_stays() {
    assert_eq!(shown("src/a.rs: one\nsrc/b.rs: two", 30), "src/a.rs: one\nsrc/b.rs: two");
}

#[test]
fn an_empty_item_keeps_its_marker() {
    assert_eq!(shown("-\n- b", 10), "-\n- b");
}

proptest! {
    #[test]
    fn no_row_but_code_is_wider_than_the_column(source in "([a-z語 #>*`|\\-\n1.]|\u{1b}){0,120}", columns in 12usize..60) {
        for row in rows(&source, columns).iter().filter(|row| !row.slides) {
            let lead: usize = row.lead.iter().map(Span::width).sum();
            prop_assert!(width(&row.words()) <= columns.max(lead + 4), "{:?}", row.words());
        }
    }
}
