//! How the two fake agents answer: fairly, as the plan says. They read prompts, never trellis' state.

use super::dialect::Line;
use super::ingredients::Ingredient;
use super::plan::Plan;
use super::rng::Rng;

/// One agent's mind.
#[derive(Clone, Debug)]
pub struct Brain {
    implements: bool,
    identical: bool,
    phases: usize,
    phases_done: usize,
    answers: u64,
    /// Reviews left to come, in order: whether each finds something.
    reviews: Vec<bool>,
    reviewed: usize,
    near_miss_asked: bool,
    /// The prompt whose turn came to nothing.
    unfinished: Option<String>,
}

/// One answer as it will be written.
#[derive(Clone, Debug)]
pub struct Answer {
    text: Option<String>,
    ending: Ending,
    message: u64,
}

#[derive(Clone, Debug)]
enum Ending {
    Normal,
    Interrupted,
    Failed,
}

impl Answer {
    pub fn lines(&self, ids: &mut u64) -> Vec<Line> {
        *ids += 1;
        match (&self.ending, &self.text) {
            (Ending::Normal, Some(text)) => {
                vec![Line::Text { message: format!("msg{}-{ids}", self.message), text: text.clone(), last: true }]
            }
            _ => Vec::new(),
        }
    }

    pub fn ending(&self) -> Vec<Line> {
        match self.ending {
            Ending::Normal => vec![Line::End { last: self.text.clone() }],
            Ending::Interrupted => vec![Line::Interrupted],
            Ending::Failed => vec![Line::Failed { status: 529, words: "Overloaded".into() }],
        }
    }
}

impl Brain {
    pub fn implementer(plan: &Plan) -> Self {
        Self {
            implements: true,
            identical: plan.identical,
            phases: plan.findings.len(),
            phases_done: 0,
            answers: 0,
            reviews: Vec::new(),
            reviewed: 0,
            near_miss_asked: false,
            unfinished: None,
        }
    }

    pub fn reviewer(plan: &Plan) -> Self {
        let mut reviews = Vec::new();
        for findings in &plan.findings {
            reviews.extend((0..*findings).map(|_| true));
            reviews.push(false);
        }
        Self {
            implements: false,
            identical: plan.identical,
            phases: plan.findings.len(),
            phases_done: 0,
            answers: 0,
            reviews,
            reviewed: 0,
            near_miss_asked: false,
            unfinished: None,
        }
    }

    /// What the agent says to a prompt, unless its turn is to fail.
    pub fn reply(&mut self, prompt: &str, failure: Option<Ingredient>, rng: &mut Rng, plan: &Plan) -> Answer {
        self.answers += 1;
        let again = prompt.contains("Go on where you stopped").then(|| self.unfinished.take()).flatten();
        let prompt = again.as_deref().unwrap_or(prompt);
        let ending = match failure {
            Some(Ingredient::Interruption) => Ending::Interrupted,
            Some(Ingredient::FailedTurn) => Ending::Failed,
            _ => Ending::Normal,
        };
        if failure.is_some() {
            self.unfinished = Some(prompt.to_owned());
            return Answer { text: None, ending, message: self.answers };
        }
        let text = if self.implements { self.build(prompt) } else { self.judge(prompt, rng, plan) };
        Answer { text: Some(text), ending, message: self.answers }
    }

    /// What is said when a background agent has reported.
    pub fn after_report(&mut self) -> Answer {
        self.answers += 1;
        let text = format!("After the report: all is as it should be, answer {}.", self.answers);
        Answer { text: Some(text), ending: Ending::Normal, message: self.answers }
    }

    /// A prompt came to nothing; "go on" means it.
    pub fn unfinish(&mut self, prompt: &str) {
        if !prompt.contains("Go on where you stopped") {
            self.unfinished = Some(prompt.to_owned());
        }
    }

    /// What was begun since is not done.
    pub fn falls_back_to(&mut self, before: Self) {
        *self = Self { answers: self.answers, ..before };
    }

    /// Another run begins: there is more to do.
    pub fn more(&mut self, findings: &[u32]) {
        self.phases = self.phases_done + findings.len();
        self.reviews.truncate(self.reviewed);
        for findings in findings {
            self.reviews.extend((0..*findings).map(|_| true));
            self.reviews.push(false);
        }
    }

    fn build(&mut self, prompt: &str) -> String {
        let next = prompt.contains("Implement the next phase") || prompt.contains("please do the next phase");
        if next {
            if self.phases_done >= self.phases {
                return "COMPLETED".into();
            }
            self.phases_done += 1;
        }
        if self.identical {
            "Done.".into()
        } else {
            format!("Phase {} stands, answer {}.", self.phases_done, self.answers)
        }
    }

    fn judge(&mut self, prompt: &str, rng: &mut Rng, plan: &Plan) -> String {
        if prompt.contains("Is this an approval?") {
            return "LGTM".into();
        }
        if !prompt.contains("Review the implementer") {
            return format!("Noted, remark {}.", self.answers);
        }
        let finds = self.reviews.get(self.reviewed).copied().unwrap_or(false);
        self.reviewed += 1;
        if finds {
            if self.identical {
                "One remark: not yet.".into()
            } else {
                format!("Remark {}: the key is missing.", self.answers)
            }
        } else if plan.near_misses && !self.near_miss_asked && rng.chance(50) {
            self.near_miss_asked = true;
            "LGTM with one nit".into()
        } else if self.identical {
            "LGTM".into()
        } else {
            format!("Review {} is done.\n\nLGTM", self.answers)
        }
    }
}
