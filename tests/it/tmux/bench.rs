//! The conformance bench: a whole driver (store, watch, tmux transport) on a pair whose reviewer misbehaves on purpose. What
//! counts is what the fake agent was given and what the pair's record says; the waits run at the tempo named in each test.
//!
//! | mode of the fake agent | right outcome |
//! |---|---|
//! | loses the first Enter | Enter alone; delivered once |
//! | loses every Enter | at most three Enters alone, then `delivery_failed`; nothing submitted |
//! | does not switch bracketed paste on | a line feed is no Enter; delivered once |
//! | the same, and a line feed submits | stops at the first piece, `delivery_failed`; never a second time |
//! | takes an Enter within 120 ms of a burst for a line feed | delivered once |
//! | a dialog is open | held with the missing tick, never approved; delivered once when it is closed |
//! | opens a dialog after the paste | no Enter, never approved; delivered once when it is closed |
//! | opens a dialog in the middle of the pieces | no further key; held until the box is empty, then delivered once |
//! | opens a dialog when Enter comes | no second Enter, never approved; delivered once when it is closed |
//! | shows nothing for 8 s | no Ctrl-C, nothing typed twice; delivered once |
//! | answers in 200 ms, or at once | counted; delivered once |
//! | ended and left its shell | `agent_gone`; the shell gets no byte |
//! | ends between paste and Enter, or at Enter | `agent_gone`; the shell gets no byte |
//! | its pane is put into copy mode between paste and Enter | copy mode is left; delivered once |
//! | writes its record 6 s late | waited for; delivered once |
//! | draws a box nobody knows | held: "cannot be read"; delivered once if a person allowed it |
//! | repaints a clock and six lines of status | delivered once |
//! | shows the footer of an idle screen through a long turn | waited for without an alarm |
//! | takes no `send-keys -l` | delivered once |
//! | holds half a sentence of a person | held until the box is empty; delivered once, the sentence never submitted |
//! | the person types between our paste and our Enter | no Enter; held until the box is empty, then delivered once |
//! | the person submits our text with words of their own | delivered, `altered` |
//! | folds long pastes into a mark | delivered once |
//! | cuts pastes | never entered; `delivery_failed` |
//! | never writes down what it took | `delivery_failed` with what was seen; never a second time |
//! | is in no tmux pane | the text stands in tmux's buffer and the screen says where to paste it; delivered once |
//! | writes a prompt down twice | delivered; the second copy is reported as a duplicate |

mod boxes;
mod by_hand;
mod dialogs;
mod rig;
mod texts;
mod times;
