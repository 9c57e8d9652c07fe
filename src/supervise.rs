//! What ends the program: signals, a panic in any task, the terminal's restoration.
