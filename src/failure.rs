//! Why the program ends with another code than 0, in one line for a person. Nothing is printed here.

/// How the program ends (`0` when nothing is wrong).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The exit code's meaning.
    pub kind: FailureKind,
    /// One line for standard error that says what to do; empty when everything was said already.
    pub message: String,
}

/// Why the program ends with another code than 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// 1: refused, failed, paused, or the answer of a question is no.
    Refused,
    /// 2: the command line cannot be understood.
    Usage,
    /// 70: an error of trellis's own.
    Internal,
}

impl Failure {
    /// Refused or failed.
    pub fn refused(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Refused, message: message.into() }
    }

    /// The command line cannot be understood.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Usage, message: message.into() }
    }

    /// An error of trellis's own.
    pub fn internal(message: impl Into<String>) -> Self {
        Self { kind: FailureKind::Internal, message: message.into() }
    }

    /// The answer is no, and it was printed.
    #[must_use]
    pub fn said() -> Self {
        Self { kind: FailureKind::Refused, message: String::new() }
    }

    /// The exit code.
    #[must_use]
    pub const fn code(&self) -> u8 {
        match self.kind {
            FailureKind::Refused => 1,
            FailureKind::Usage => 2,
            FailureKind::Internal => crate::supervise::EXIT_INTERNAL,
        }
    }
}

impl From<std::io::Error> for Failure {
    /// Of the standard output: a reader that went away is no failure of ours.
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            return Self::said();
        }
        Self::refused(format!("can't write the output: {error}"))
    }
}
