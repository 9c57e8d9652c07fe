//! Markdown as people read it in a narrow column.

use proptest::prelude::*;

use super::*;

fn shown(source: &str, columns: usize) -> String {
    rows(source, columns, &[]).iter().map(|row| row.words().trim_end().to_owned()).collect::<Vec<_>>().join("\n")
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
    let page = rows("See:\n\n```rust\nlet t = round(sum);   // a long comment here\n\tindented\n```\nEnd", 20, &[]);
    let code: Vec<&Row> = page.iter().filter(|row| row.slides).collect();
    assert_eq!(code[0].words(), "│ let t = round(sum);   // a long comment here");
    assert_eq!(code[1].words(), "│     indented");
    assert_eq!(page.last().unwrap().words(), "End");
}

#[test]
fn diffs_have_signs_and_tones() {
    let page = rows("```diff\n+new\n-old\n same\n```", 20, &[]);
    let tones: Vec<Tone> = page.iter().map(|row| row.body[0].tone()).collect();
    assert_eq!(tones, [Tone::Added, Tone::Removed, Tone::Code]);
}

#[test]
fn headings_of_three_levels_are_told_apart() {
    let source = "# A *long*, long title\n## Two\nx\n### Three\n> # In a quote";
    assert_eq!(shown(source, 12), "A long, long\ntitle\n────────────\nTwo\nx\n· Three\n> In a quote\n> ──────────");
}

#[test]
fn headings_emphasis_quotes_links_and_tables() {
    let source = "# Top\nA **bold** and *soft* word with `code`.\n\n> quoted words\n\n[spec](http://x.example)\n\n| a | bb |\n|---|---|\n| 1 | 語 |";
    assert_eq!(
        shown(source, 60),
        "Top\n───\nA bold and soft word with `code`.\n\n> quoted words\n\nspec <http://x.example>\n\na  bb\n─  ──\n1  語"
    );
    assert!(rows(source, 60, &[]).iter().flat_map(|row| &row.body).any(|span| span.tone() == Tone::Emphasis));
}

#[test]
fn a_newline_in_a_paragraph_stays() {
    assert_eq!(shown("src/a.rs: one\nsrc/b.rs: two", 30), "src/a.rs: one\nsrc/b.rs: two");
}

#[test]
fn an_empty_item_keeps_its_marker() {
    assert_eq!(shown("-\n- b", 10), "-\n- b");
}

#[test]
fn lists_tasks_and_numbers_nest() {
    let source = "3. third\n   - [x] done\n   - [ ] open\n     1. deep\n4. fourth";
    assert_eq!(shown(source, 30), "3. third\n   - [x] done\n   - [ ] open\n     1. deep\n4. fourth");
}

#[test]
fn quotes_nest_and_code_in_them_keeps_its_bar() {
    let source = "> outer\n> > inner\n>\n> ```\n> code\n> ```";
    assert_eq!(shown(source, 30), "> outer\n> > inner\n>\n> │ code");
}

#[test]
fn tables_are_aligned_and_lose_no_cell() {
    let source = "| l | c | r |\n|:--|:-:|--:|\n| 語 | x | 1 |\n| left | [a](b) | 1000 | more |";
    assert_eq!(
        shown(source, 60),
        "l       c       r\n────  ─────  ────  ────\n語      x       1\nleft  a <b>  1000  more"
    );
    assert!(rows(source, 10, &[]).iter().all(|row| row.slides), "too wide ones are scrolled sideways");
}

#[test]
fn links_say_where_they_point_and_write_no_sequence() {
    let source = "[spec](http://x.example \"the title\") <http://y.example> ![picture](a.png) [both](both)";
    assert_eq!(shown(source, 90), "spec <http://x.example \"the title\"> http://y.example picture <a.png> both");
}

#[test]
fn definitions_footnotes_and_html_stay_as_they_are_written() {
    let source = "See [spec] and[^1].\n\n[spec]: http://x.example\n[unused]: b.md \"why\"\n\n[^1]: a note\n\n<details>\n<summary>More</summary>\ninside\n</details>\n\nafter";
    let text = shown(source, 60);
    for words in [
        "spec <http://x.example>",
        "[unused]: b.md \"why\"",
        "[^1]: a note",
        "<details>\n<summary>More</summary>\ninside\n</details>\n\nafter",
    ] {
        assert!(text.contains(words), "{words} is missing in\n{text}");
    }
}

#[test]
fn a_bare_diff_is_no_list() {
    let source = "Changed:\n\n--- a/x.rs\n+++ b/x.rs\n@@ -1,3 +1,3 @@ fn total()\n fn total() {\n-    round(a)\n+    a\n }\nThat is all.\n- a point";
    let page = rows(source, 40, &[]);
    let tone_of = |words: &str| page.iter().find(|row| row.words().contains(words)).map(|row| row.body[0].tone());
    assert_eq!(tone_of("-    round(a)"), Some(Tone::Removed));
    assert_eq!(tone_of("+    a"), Some(Tone::Added));
    assert_eq!(tone_of("--- a/x.rs"), Some(Tone::Strong));
    assert_eq!(tone_of("@@ -1,3"), Some(Tone::Relay));
    assert!(page.iter().any(|row| row.words() == "That is all."));
    assert!(page.iter().any(|row| row.words() == "- a point" && !row.slides));
}

#[test]
fn a_fence_says_what_is_more_than_a_language() {
    assert_eq!(shown("```rust\na\n```", 30), "│ a");
    assert_eq!(shown("```rust src/main.rs\na\n```", 30), "rust src/main.rs\n│ a");
}

#[test]
fn a_point_named_before_gets_its_mark() {
    let source = "Two:\n- new one\n- old one\n  goes on\n\n```\nx\n```";
    let text = |marks: &[usize]| rows(source, 30, marks).iter().map(Row::words).collect::<Vec<_>>().join("\n");
    assert!(text(&[2]).contains("- new one\n= old one\n  goes on"), "{}", text(&[2]));
    let numbered = rows("1. a\n2. b", 30, &[1]);
    assert_eq!(numbered[1].words(), "= 2. b");
    assert_eq!(rows("A paragraph.", 30, &[0])[0].words(), "= A paragraph.");
    // A diff in front of it gets a fence of two lines.
    let behind = rows("@@ -1 +1 @@\n-a\n+b\n\n- old one", 30, &[4]);
    assert!(behind.iter().any(|row| row.words() == "= old one"), "{behind:?}");
}

#[test]
fn quotes_in_quotes_in_quotes_leave_room_for_the_words() {
    let source = format!("{}deep words of it", "> ".repeat(40));
    let page = rows(&source, 30, &[]);
    assert!(page.iter().all(|row| width(&row.words()) <= 30));
    let text: String = page.iter().flat_map(|row| &row.body).map(Span::text).collect();
    assert_eq!(text.replace(' ', ""), "deepwordsofit");
}

/// Source of all kinds of Markdown, with words `w0 w1 …` that can be told apart.
fn sources() -> impl Strategy<Value = String> {
    const PIECES: [&str; 40] = [
        "\n",
        "\n\n",
        "# ",
        "### ",
        "- ",
        "* ",
        "1. ",
        "7) ",
        "> ",
        "    ",
        "```\n",
        "~~~\n",
        "| ",
        " | ",
        "\n|---|:-:|\n",
        "[",
        "](",
        ")",
        "![",
        "*",
        "**",
        "_",
        "~~",
        "`",
        "[ ] ",
        "[x] ",
        "<div>",
        "</div>\n",
        "<!-- ",
        " -->",
        "\n@@ -1,2 +1,2 @@\n",
        "\n+",
        "\n-",
        "[^1]",
        "]: ",
        "\n---\n",
        "\n===\n",
        "\\",
        "語",
        "\"",
    ];
    proptest::collection::vec((0usize..60, 0usize..4), 1..60).prop_map(|list| {
        let mut source = String::new();
        for (at, (piece, blanks)) in list.into_iter().enumerate() {
            let word = format!("w{at}q");
            let piece = PIECES.get(piece).copied().unwrap_or(&word);
            // Three in a row would make of the next word the language of a code block, which is markup.
            let fence = |mark| source.ends_with(mark) && piece.starts_with(mark);
            if fence('~') || fence('`') {
                source.push(' ');
            }
            source.push_str(piece);
            if blanks == 0 {
                source.push(' ');
            }
        }
        source
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_text_is_drawn_and_no_line_is_wider_than_the_column(source in "(\\PC|\n|[#>*`|~\\[\\]()+@ -]){0,200}", columns in 4usize..80) {
        for row in rows(&source, columns, &[0, 1]).iter().filter(|row| !row.slides) {
            let words = row.words();
            let widest = unicode_segmentation::UnicodeSegmentation::graphemes(words.as_str(), true).map(width).max();
            prop_assert!(width(&words) <= columns.max(widest.unwrap_or(0)), "{words:?} in {columns}");
        }
    }

    #[test]
    fn every_word_of_the_source_is_shown(source in sources(), columns in 12usize..80) {
        let text: String = rows(&source, columns, &[]).iter().flat_map(|row| &row.body).map(Span::text).collect();
        for word in source.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.starts_with('w')) {
            prop_assert!(text.contains(word), "{word} is missing in {text:?}");
        }
    }
}

#[test]
fn a_definition_in_front_of_a_lazy_line_is_shown() {
    for source in [
        "[ ```\n -  [ <div> ]:  w6q \n===\n ",
        "- [a]: w1q\nw2q\n",
        "> [a]: w1q\n> w2q\n",
        "-  ```\n [ #  ]:  w5q \n+ \n@@\n",
    ] {
        let text: String = rows(source, 30, &[]).iter().flat_map(|row| &row.body).map(Span::text).collect();
        for word in source.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.starts_with('w')) {
            assert!(text.contains(word), "{word} is missing in {text:?}");
        }
    }
}
