//! A frame as plain text or as a picture, for commands, tests and the README. Pure.

use std::fmt::Write as _;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

use super::theme::fixed_rgb;
use super::width::width;

/// The frame as text: one line a row, blanks at the ends left out, no escape sequence.
#[must_use]
pub fn plain(buffer: &Buffer) -> String {
    let mut out = String::new();
    for row in rows(buffer) {
        let line: String = row.iter().map(|(symbol, _)| symbol.as_str()).collect();
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// The cells of each row, the second halves of wide characters left out.
fn rows(buffer: &Buffer) -> Vec<Vec<(String, Cell)>> {
    let columns = usize::from(buffer.area.width).max(1);
    buffer
        .content
        .chunks(columns)
        .map(|cells| {
            let mut row = Vec::with_capacity(cells.len());
            let mut hidden = 0;
            for cell in cells {
                if hidden > 0 {
                    hidden -= 1;
                    continue;
                }
                hidden = width(cell.symbol()).saturating_sub(1);
                row.push((cell.symbol().to_owned(), cell.clone()));
            }
            row
        })
        .collect()
}

/// The frame as text with a row of style letters under each row that has any, and a legend at the end.
#[must_use]
pub fn with_styles(buffer: &Buffer) -> String {
    let mut out = String::new();
    let mut legend: Vec<(String, char)> = Vec::new();
    for row in rows(buffer) {
        let line: String = row.iter().map(|(symbol, _)| symbol.as_str()).collect();
        out.push_str(line.trim_end());
        out.push('\n');
        let mut mask = String::new();
        for (symbol, cell) in &row {
            let name = style_name(cell);
            let letter =
                if name.is_empty() || (symbol == " " && !name.contains("reversed") && !name.contains("underlined")) {
                    ' '
                } else if let Some((_, letter)) = legend.iter().find(|(known, _)| *known == name) {
                    *letter
                } else {
                    let letter = char::from(b'a' + u8::try_from(legend.len() % 26).unwrap_or(0));
                    legend.push((name, letter));
                    letter
                };
            mask.extend(std::iter::repeat_n(letter, width(symbol).max(1)));
        }
        if !mask.trim().is_empty() {
            let _ = writeln!(out, "\u{2502}{}", mask.trim_end());
        }
    }
    for (name, letter) in legend {
        let _ = writeln!(out, "{letter} = {name}");
    }
    out
}

fn style_name(cell: &Cell) -> String {
    let mut parts = Vec::new();
    if cell.fg != Color::Reset {
        parts.push(cell.fg.to_string().to_lowercase());
    }
    if cell.bg != Color::Reset {
        parts.push(format!("on {}", cell.bg).to_lowercase());
    }
    for (modifier, word) in [
        (Modifier::BOLD, "bold"),
        (Modifier::DIM, "dim"),
        (Modifier::ITALIC, "italic"),
        (Modifier::UNDERLINED, "underlined"),
        (Modifier::REVERSED, "reversed"),
    ] {
        if cell.modifier.contains(modifier) {
            parts.push(word.to_owned());
        }
    }
    parts.join(" ")
}

/// Pixels of a cell in the picture.
const CELL: (usize, usize) = (9, 19);
/// Pixels around the picture.
const EDGE: usize = 12;

/// The frame as an SVG picture: dark on light, so that it reads in both modes of a page.
#[must_use]
pub fn svg(buffer: &Buffer, title: &str) -> String {
    let (columns, lines) = (usize::from(buffer.area.width), usize::from(buffer.area.height));
    let (wide, high) = (columns * CELL.0 + 2 * EDGE, lines * CELL.1 + 2 * EDGE);
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\" viewBox=\"0 0 {wide} {high}\" role=\"img\">\n\
         <title>{}</title>\n\
         <rect width=\"{wide}\" height=\"{high}\" rx=\"8\" fill=\"#fbfbf8\" stroke=\"#c9c9c2\"/>\n\
         <g font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"15\" xml:space=\"preserve\">",
        escaped(title)
    );
    for (y, row) in rows(buffer).iter().enumerate() {
        let mut x = 0;
        for (symbol, cell) in row {
            let columns = width(symbol).max(1);
            svg_cell(&mut out, (x, y), columns, symbol, cell);
            x += columns;
        }
    }
    out.push_str("</g>\n</svg>\n");
    out
}

fn svg_cell(out: &mut String, (x, y): (usize, usize), columns: usize, symbol: &str, cell: &Cell) {
    let reversed = cell.modifier.contains(Modifier::REVERSED);
    let (front, back) = (hex(cell.fg, "#22221f"), hex(cell.bg, "#fbfbf8"));
    let (ink, paper) = if reversed { (back, front) } else { (front, back) };
    let (left, top) = (EDGE + x * CELL.0, EDGE + y * CELL.1);
    if reversed || cell.bg != Color::Reset {
        let _ = writeln!(
            out,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>",
            columns * CELL.0,
            CELL.1,
            paper
        );
    }
    if symbol.trim().is_empty() {
        return;
    }
    let mut looks = String::new();
    for (modifier, attribute) in [
        (Modifier::BOLD, " font-weight=\"bold\""),
        (Modifier::ITALIC, " font-style=\"italic\""),
        (Modifier::UNDERLINED, " text-decoration=\"underline\""),
    ] {
        if cell.modifier.contains(modifier) {
            looks.push_str(attribute);
        }
    }
    let _ = writeln!(
        out,
        "<text x=\"{left}\" y=\"{}\" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\" fill=\"{ink}\"{looks}>{}</text>",
        top + CELL.1 * 3 / 4,
        columns * CELL.0,
        escaped(symbol)
    );
}

/// A colour of the picture; `own` is what the terminal's own one becomes.
fn hex(color: Color, own: &str) -> String {
    let named = match color {
        Color::Red => "#b3261e",
        Color::Green => "#1d6b2e",
        Color::Blue => "#1a4fa3",
        Color::Magenta => "#8a2a83",
        Color::Cyan => "#0b6470",
        _ => own,
    };
    fixed_rgb(color).map_or_else(|| named.to_owned(), |[r, g, b]| format!("#{r:02x}{g:02x}{b:02x}"))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
