//! What a cell is as bytes.

use ratatui::style::Style;

use super::*;

fn bytes(cells: &[(u16, u16, Cell)]) -> String {
    let mut out = Vec::new();
    Cells::new(&mut out).draw(cells.iter().map(|(x, y, cell)| (*x, *y, cell))).unwrap();
    String::from_utf8(out).unwrap()
}

fn cell(symbol: &str, style: Style) -> Cell {
    let mut cell = Cell::default();
    cell.set_symbol(symbol).set_style(style);
    cell
}

#[test]
fn colours_are_those_of_the_first_standard_and_come_with_the_attributes() {
    let red = cell("!", Style::new().fg(Color::Red).add_modifier(Modifier::BOLD));
    let bright = cell("x", Style::new().fg(Color::LightCyan).bg(Color::Blue));
    let plain = cell("y", Style::new());
    let drawn = bytes(&[(0, 0, red), (1, 0, bright), (2, 0, plain)]);
    assert_eq!(drawn, "\x1b[1;1H\x1b[0;1;31m!\x1b[0;96;44mx\x1b[0my");
    let reversed = bytes(&[(3, 1, cell("z", Style::new().add_modifier(Modifier::REVERSED)))]);
    assert_eq!(reversed, "\x1b[2;4H\x1b[0;7mz\x1b[0m");
    let many = cell("w", Style::new().fg(Color::Indexed(200)).bg(Color::Rgb(1, 2, 3)));
    assert_eq!(bytes(&[(0, 0, many)]), "\x1b[1;1H\x1b[0;38;5;200;48;2;1;2;3mw\x1b[0m");
}
