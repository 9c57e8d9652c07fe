//! A value that others may keep a share of: it is copied when it is changed while somebody does, so that one look at the
//! share tells whether anything changed. Nothing is known here of what the values are.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Shared<T>(Arc<T>);

impl<T> Shared<T> {
    /// A share of it as it is now.
    #[must_use]
    pub const fn share(&self) -> &Arc<T> {
        &self.0
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    /// Whoever asks for this is taken to change it.
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}
