//! Turns and answers as the loops judge them: newer, usable, failed.
