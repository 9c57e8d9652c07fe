//! That what spares ASCII the look-up gives what Unicode's own walk gives.

use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization as _;

use super::nfc;

proptest! {
    /// Letters, accents in and out of order, Hangul in parts, signs that decompose and stay so.
    #[test]
    fn a_text_in_form_c_is_what_unicode_says(text in "[ae \n<\u{301}\u{308}\u{327}\u{e9}\u{1100}\u{1161}\u{11a8}\u{ac00}\u{212b}\u{958}\u{fb1d}\u{1f600}—]{0,24}") {
        prop_assert_eq!(nfc(&text).into_owned(), text.nfc().collect::<String>());
    }

    #[test]
    fn any_text_in_form_c_is_what_unicode_says(text in any::<String>()) {
        prop_assert_eq!(nfc(&text).into_owned(), text.nfc().collect::<String>());
    }
}

#[test]
fn ascii_alone_is_not_copied() {
    assert!(matches!(nfc("plain\ntext"), std::borrow::Cow::Borrowed("plain\ntext")));
    assert_eq!(nfc("cafe\u{301} "), "caf\u{e9} ");
}
