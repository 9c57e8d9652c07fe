//! Mutations of inputs, from a seed: the same number gives the same bytes on every machine. Knows no target.

/// A small generator (xorshift64*).
pub struct Dice(u64);

impl Dice {
    /// From a seed; 0 is as good as any other.
    pub const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Below `end`; 0 when that is 0.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() >> 16).unwrap_or(0) % end.max(1)
    }
}

/// What the formats are made of, true and untrue.
const WORDS: [&[u8]; 40] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b":",
    b",",
    b"\n",
    b"\0",
    b"\\",
    b"\\u0000",
    b"\\ud83d",
    b"\xff",
    b"\xef\xbb\xbf",
    b"null",
    b"true",
    b"-1",
    b"1e999",
    b"18446744073709551616",
    b"{\"type\":",
    b"\"payload\":",
    b"\"content\":",
    b"\"uuid\":\"a\"",
    b"\"timestamp\":\"2026-11-30T10:00:00Z\"",
    b"LGTM",
    b"**LGTM**",
    b"```",
    b"> ",
    b"- ",
    b"| a | b |\n|---|---|\n",
    b"<!--",
    b"\x1b[31m",
    b"\x1b]0;",
    b"\x07",
    b"\xc2\x9b",
    b"\xe2\x80\xae",
    b"\xe2\x9d\xaf\xc2\xa0",
    b"[[run]]\n",
    b"../",
    b"\t",
];

/// One to eight changes of `input`; `other` is an input of the same target to take pieces from. At most `most` bytes.
pub fn mutated(input: &[u8], other: &[u8], most: usize, dice: &mut Dice) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..=dice.below(8) {
        change(&mut bytes, other, dice);
    }
    bytes.truncate(most);
    bytes
}

fn change(bytes: &mut Vec<u8>, other: &[u8], dice: &mut Dice) {
    let at = dice.below(bytes.len() + 1);
    let to = at + dice.below((bytes.len() - at).min(64) + 1);
    match dice.below(8) {
        // One byte is another, or one bit of it is.
        0 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = dice.below(256).try_into().unwrap_or_default();
            }
        }
        1 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << dice.below(8);
            }
        }
        // A piece goes, comes twice, or comes from the other input.
        2 => drop(bytes.drain(at..to)),
        3 => {
            let piece = bytes[at..to].to_vec();
            bytes.splice(at..at, piece);
        }
        4 => {
            let from = dice.below(other.len() + 1);
            let piece = &other[from..from + dice.below((other.len() - from).min(256) + 1)];
            bytes.splice(at..to, piece.iter().copied());
        }
        // A word of the formats stands there, instead of something or between.
        5 => drop(bytes.splice(at..to, WORDS[dice.below(WORDS.len())].iter().copied())),
        6 => drop(bytes.splice(at..at, WORDS[dice.below(WORDS.len())].iter().copied())),
        // Two lines change places, or the end is cut off.
        _ => {
            let mut lines: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
            if lines.len() > 1 {
                let (one, two) = (dice.below(lines.len()), dice.below(lines.len()));
                lines.swap(one, two);
                *bytes = lines.join(&b'\n');
            } else {
                bytes.truncate(at);
            }
        }
    }
}
