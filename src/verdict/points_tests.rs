//! Tests of `verdict::points`.

use pretty_assertions::assert_eq;

use super::*;

#[test]
fn top_level_items_are_the_points() {
    let answer = "Two remarks:\n1. no idempotency key,\n   so a retry charges twice\n   - see the docs\n2. the total rounds twice\n\n   ```\n   - round(sum)\n   ```\n\n   in two places\n\nEverything else is good.";
    assert_eq!(
        points(answer, "LGTM"),
        ["no idempotency key,\nso a retry charges twice\n- see the docs", "the total rounds twice\nin two places"]
    );
}

#[test]
fn without_a_list_each_paragraph_is_a_point() {
    let answer = "# Review\n\nThe total rounds\ntwice.\n\n```\n- no item\n```\n> - no item\n\nThe key is missing.\n";
    assert_eq!(points(answer, "LGTM"), ["The total rounds\ntwice.", "The key is missing."]);
    assert_eq!(points("", "LGTM").len(), 0);
    assert_eq!(points("* \n", "LGTM").len(), 0);
}

#[test]
fn a_point_repeats_when_it_is_equal_or_shares_most_of_its_words() {
    let earlier = points("- The total rounds twice (src/checkout.rs:88).\n- No key.", "LGTM");
    let now = points(
        "1. **the total rounds twice** in src/checkout.rs:91\n2. the total still rounds twice, before tax\n3. NO KEY!\n4. 17.\n",
        "LGTM",
    );
    assert_eq!(repeats(&now, &earlier), [true, false, true, false]);
    assert_eq!(repeats(&now, &[]), [false; 4]);
}

#[test]
fn the_verdict_and_what_leads_to_a_remark_are_no_points() {
    let nit = "The cart does what it should. The field could do with a comment.\n\nLGTM with one nit";
    assert_eq!(points(nit, "LGTM"), ["The cart does what it should. The field could do with a comment."]);
    // Other words for it make it a sentence like any other.
    assert_eq!(points(nit, "SHIP IT").len(), 2);
    for verdict in ["Verdict: LGTM, mostly.", "LGTM", "**LGTM**", "- LGTM, nice work", ""] {
        assert_eq!(points(verdict, "LGTM").len(), 0, "{verdict}");
    }
    // What is missing for it is what a person looks for.
    assert_eq!(points("No LGTM: the total rounds twice.", "LGTM").len(), 1);
    assert_eq!(points("One remark:\n\nThe total rounds twice.", "LGTM"), ["The total rounds twice."]);
    assert_eq!(points("The total rounds twice.", " ").len(), 1);
}
