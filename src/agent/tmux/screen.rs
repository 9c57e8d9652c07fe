//! A captured pane as rows of characters with the few attributes that matter. Pure; knows no agent.

/// One character as it stands on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The character.
    pub sign: char,
    /// Drawn faint.
    pub dim: bool,
    /// Drawn bold.
    pub bold: bool,
    /// Drawn with colours exchanged.
    pub reverse: bool,
}

/// A row; blanks at its end may be missing.
pub type Row = Vec<Cell>;

/// Reads the output of `capture-pane -p -e`. Attributes go on from row to row.
#[must_use]
pub fn rows(captured: &str) -> Vec<Row> {
    let mut pen = Pen::default();
    captured.trim_end_matches('\n').split('\n').map(|line| row(line, &mut pen)).collect()
}

/// The characters of a row.
#[must_use]
pub fn text(row: &[Cell]) -> String {
    row.iter().map(|cell| cell.sign).collect()
}

/// Nothing but blanks.
#[must_use]
pub fn is_blank(row: &[Cell]) -> bool {
    row.iter().all(|cell| cell.sign.is_whitespace())
}

#[derive(Clone, Copy, Default)]
struct Pen {
    dim: bool,
    bold: bool,
    reverse: bool,
}

impl Pen {
    fn take(&mut self, parameters: &str) {
        let mut codes = parameters.split(';');
        while let Some(code) = codes.next() {
            match code {
                "" | "0" => *self = Self::default(),
                "1" => self.bold = true,
                "2" => self.dim = true,
                "7" => self.reverse = true,
                "22" => (self.bold, self.dim) = (false, false),
                "27" => self.reverse = false,
                // A colour's own numbers are no attributes.
                "38" | "48" | "58" => match codes.next() {
                    Some("5") => drop(codes.next()),
                    Some("2") => drop(codes.nth(2)),
                    _ => {}
                },
                _ => {}
            }
        }
    }
}

fn row(line: &str, pen: &mut Pen) -> Row {
    let mut cells = Vec::with_capacity(line.len());
    let mut signs = line.chars().peekable();
    while let Some(sign) = signs.next() {
        if sign != '\u{1b}' {
            if !sign.is_control() {
                cells.push(Cell { sign, dim: pen.dim, bold: pen.bold, reverse: pen.reverse });
            }
            continue;
        }
        match signs.next() {
            Some('[') => {
                let mut parameters = String::new();
                for sign in signs.by_ref() {
                    if ('@'..='~').contains(&sign) {
                        if sign == 'm' {
                            pen.take(&parameters);
                        }
                        break;
                    }
                    parameters.push(sign);
                }
            }
            // A link or a title: until its end.
            Some(']') => {
                while let Some(sign) = signs.next() {
                    if sign == '\u{7}' {
                        break;
                    }
                    if sign == '\u{1b}' {
                        signs.next();
                        break;
                    }
                }
            }
            // A change of character set has one more sign; anything else is only what was taken.
            Some('(' | ')') => drop(signs.next()),
            _ => {}
        }
    }
    cells
}
