//! What the replies to orders and the answers to questions lead to. Which orders there are is in `order_keys`.

use crate::model::command::Reply;
use crate::model::ids::RecordKey;
use crate::projection::{Notice, Projection};

use super::app::{Answer, App, Effect, Exit, Over, Purpose, Then};
use super::form::FormKind;
use super::key::Key;

impl App {
    /// What failed after its order was taken (a program that does not start) has no reply: its notice is said when it comes.
    pub(super) fn say_what_failed(&mut self, before: &Projection) {
        if before.at.is_none() {
            // What the first projection brings happened before the person came.
            return;
        }
        let is_new = |notice: &&Notice| notice.is_error && !before.notices.contains(notice);
        if let Some(notice) = self.projection.notices.iter().rev().find(is_new) {
            self.say(notice.text.clone(), true);
        }
    }

    /// The reply to an order has come; `None`: the engine is gone.
    pub fn replied(&mut self, then: Then, reply: Option<Reply>) -> Vec<Effect> {
        let Some(reply) = reply else {
            self.say("the engine is gone: leave trellis and start it again", true);
            self.release(then, None);
            return Vec::new();
        };
        match reply {
            Reply::Done { record, note } => {
                let is_new = self.over.iter().any(|over| match over {
                    Over::Form(form) => form.waits && matches!(form.kind, FormKind::NewRun | FormKind::NewPair),
                    _ => false,
                });
                self.close(then);
                if let Some(key) = record.filter(|_| then == Then::Open || then == Then::Form && is_new) {
                    self.awaited = Some(key);
                    self.open_awaited();
                }
                if !note.is_empty() {
                    self.say(note, false);
                }
            }
            Reply::Refused(refusal) => {
                if self.release(then, Some((&refusal.message, refusal.field.as_deref()))) {
                    self.refused_at = Some(self.now);
                } else {
                    self.refuse(refusal.message);
                }
            }
        }
        Vec::new()
    }

    /// What gave an order that was carried out has done its work.
    fn close(&mut self, then: Then) {
        let is_sent = |over: &Over| match over {
            Over::Form(form) => then == Then::Form && form.waits,
            Over::Editor(writing) => then == Then::Editor && writing.waits,
            Over::Look(look) => then == Then::Look && look.waits,
            _ => false,
        };
        let of_relay = self.over.iter().any(|over| match over {
            Over::Editor(writing) => is_sent(over) && matches!(writing.purpose, Purpose::Relay { .. }),
            _ => false,
        });
        self.over.retain(|over| !(is_sent(over) || of_relay && matches!(over, Over::Look(_))));
        if of_relay || then == Then::Look {
            self.pane = None;
        }
    }

    /// Opens the record that was made, once it is there to be shown.
    pub(super) fn open_awaited(&mut self) {
        let Some(key) = self.awaited.clone().filter(|key: &RecordKey| self.run(key).is_some()) else { return };
        self.awaited = None;
        self.refresh();
        self.open_run(&key);
    }

    /// Lets a form, editor or preview go on after its order was refused; the problem stands at its field.
    /// True: an editor shows it in full.
    fn release(&mut self, then: Then, problem: Option<(&str, Option<&str>)>) -> bool {
        let mut shown = false;
        for over in &mut self.over {
            match over {
                Over::Form(form) if then == Then::Form && form.waits => {
                    form.waits = false;
                    if let Some((words, field)) = problem {
                        match field.and_then(|id| form.field_mut(id)) {
                            Some(field) => field.problem = Some(words.to_owned()),
                            None => form.problem = Some(words.to_owned()),
                        }
                    }
                }
                Over::Editor(writing) if then == Then::Editor && writing.waits => {
                    writing.waits = false;
                    writing.problem = problem.map(|(words, _)| words.to_owned());
                    shown = writing.problem.is_some();
                }
                Over::Look(look) if then == Then::Look => look.waits = false,
                _ => {}
            }
        }
        shown
    }

    /// A question is answered: yes by `y` or the key that asked, no by anything else.
    pub(super) fn answer(&mut self, key: Key) -> Vec<Effect> {
        let Some(Over::Question(question)) = self.over.pop() else { return Vec::new() };
        if matches!(question.yes, Answer::Leave) && key == Key::char('b') {
            return self.go_on();
        }
        if key != Key::char('y') && question.key != Some(key) {
            let words = match &question.yes {
                Answer::Original => "no: the edit stays",
                Answer::Leave => "no: trellis stays open",
                Answer::Do(_) => "no: nothing was sent",
            };
            self.say(words, false);
            self.refused_at = Some(self.now);
            return Vec::new();
        }
        match question.yes {
            Answer::Do(effects) => {
                let of_look = |effect: &Effect| matches!(effect, Effect::Send { then: Then::Look, .. });
                if let Some(Over::Look(look)) = self.over.last_mut()
                    && effects.iter().any(of_look)
                {
                    look.waits = true;
                }
                effects
            }
            Answer::Leave => vec![Effect::Quit(Exit::Quit)],
            Answer::Original => {
                if let Some(Over::Editor(writing)) = self.over.last_mut() {
                    let original = writing.editor.original().to_owned();
                    writing.editor.replace(&original);
                }
                Vec::new()
            }
        }
    }
}
