//! The screen: keys in, commands out; a projection in, a frame out. Knows no machine, store, transport or transcript file.
