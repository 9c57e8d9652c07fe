//! Layout classes: what a size of the terminal means. Places of columns are with the screens that have them.

/// From here on list, detail and conversation stand side by side.
pub const WIDE: u16 = 100;
/// From here on the conversation splits into its two sides.
pub const SPLIT: u16 = 160;
/// Up to here there is one narrow column.
pub const NARROW: u16 = 59;
/// Below this many rows header and footer give way.
pub const SHORT: u16 = 14;
/// The smallest size that shows anything.
pub const SMALLEST: (u16, u16) = (20, 6);
/// Columns of the list of runs beside a run.
pub const LIST: u16 = 28;
/// Columns of phases and relays beside a conversation.
pub const DETAIL: u16 = 33;

/// Whether list, detail and conversation stand side by side.
#[must_use]
pub const fn is_beside(size: (u16, u16)) -> bool {
    size.0 >= WIDE && size.1 >= SHORT
}

/// Whether the size is too small for anything but one line.
#[must_use]
pub const fn too_small(size: (u16, u16)) -> bool {
    size.0 < SMALLEST.0 || size.1 < SMALLEST.1
}
