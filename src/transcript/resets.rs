//! When a limit ends, read from the agent's words relative to the record's own time.
//! Whether the words speak of a limit at all is `failure`.

use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, Timestamp};

/// Reads reset times. Times without a zone of their own are of `zone`.
#[derive(Clone, Debug)]
pub(super) struct Resets {
    zone: TimeZone,
}

/// What stands before a reset time, in the order in which they are believed.
const ANCHORS: [&str; 8] =
    ["resets", "reset at", "reset in", "reset on", "try again", "retry after", "retry in", "available again"];

/// Longest stretch of words that is looked at behind an anchor.
const REACH: usize = 24;

impl Resets {
    pub(super) fn new(zone: TimeZone) -> Self {
        Self { zone }
    }

    /// The reset time that `text` names, or `None`. `at` is when it was written.
    pub(super) fn find(&self, text: &str, at: Option<Timestamp>) -> Option<Timestamp> {
        if let Some(epoch) = text.split('|').skip(1).find_map(epoch) {
            return Some(epoch);
        }
        let text = text.to_lowercase();
        ANCHORS.iter().find_map(|anchor| {
            text.split(anchor).skip(1).find_map(|behind| {
                let words: Vec<&str> = behind.lines().next().map(words).unwrap_or_default();
                Phrase::read(&words)?.resolve(at, &self.zone)
            })
        })
    }
}

/// Seconds or milliseconds since 1970, as older Claude versions write behind a bar.
fn epoch(text: &str) -> Option<Timestamp> {
    let text = text.trim_start();
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let number: i64 = text.get(..digits)?.parse().ok()?;
    match digits {
        10 => Timestamp::from_second(number).ok(),
        13 => Timestamp::from_millisecond(number).ok(),
        _ => None,
    }
}

fn words(line: &str) -> Vec<&str> {
    line.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, ':' | '/' | '_' | '.' | '+' | '-')))
        .map(|word| word.trim_end_matches(['.', ':', '-']))
        .filter(|word| !word.is_empty())
        .take(REACH)
        .collect()
}

/// What the words behind an anchor say.
#[derive(Default)]
struct Phrase {
    instant: Option<Timestamp>,
    amount: SignedDuration,
    hour: Option<(i8, i8, i8)>,
    day: Option<Day>,
    month: Option<i8>,
    zone: Option<TimeZone>,
}

#[derive(Clone, Copy)]
enum Day {
    Tomorrow,
    Today,
    On(Weekday),
    OfMonth(i8, i8, Option<i16>),
    Date(Date),
}

impl Phrase {
    fn read(words: &[&str]) -> Option<Self> {
        let mut phrase = Self::default();
        let mut rest = words;
        while let [word, behind @ ..] = rest {
            let next = behind.first().copied().unwrap_or_default();
            match phrase.take(word, next) {
                0 => break,
                used => rest = rest.get(used..).unwrap_or_default(),
            }
        }
        phrase.says_something().then_some(phrase)
    }

    fn says_something(&self) -> bool {
        self.instant.is_some() || !self.amount.is_zero() || self.hour.is_some() || self.day.is_some()
    }

    /// Takes in one word, or two; says how many it used, 0 if it means nothing here.
    fn take(&mut self, word: &str, next: &str) -> usize {
        if matches!(word, "at" | "in" | "on" | "after" | "by" | "around" | "about" | "the" | "and") {
            return 1;
        }
        if let Ok(instant) = word.to_ascii_uppercase().parse::<Timestamp>() {
            self.instant = Some(instant);
            return 1;
        }
        if let Some(day) = day_word(word) {
            self.day = Some(day);
            return 1;
        }
        if let Some(month) = month(word) {
            self.month = Some(month);
            return 1;
        }
        if self.take_amount(word, next) {
            return if unit(next).is_some() && unit_amount(word).is_none() { 2 } else { 1 };
        }
        if let Some((hour, used)) = hour(word, next) {
            self.hour = Some(hour);
            return used;
        }
        if let Some(used) = self.take_day_of_month(word) {
            return used;
        }
        self.zone = match zone(word) {
            None => return 0,
            found => found,
        };
        1
    }

    /// `2 hours`, `an hour`, `2h`, `2h5m`, `1.5s`.
    fn take_amount(&mut self, word: &str, next: &str) -> bool {
        let added = unit_amount(word).or_else(|| {
            let count = if matches!(word, "a" | "an" | "one") { 1.0 } else { plain_number(word)? };
            seconds(count * unit(next)?)
        });
        match added.and_then(|added| self.amount.checked_add(added)) {
            Some(sum) => {
                self.amount = sum;
                true
            }
            None => false,
        }
    }

    /// `3`, `3rd` or a year, behind a month's name.
    fn take_day_of_month(&mut self, word: &str) -> Option<usize> {
        let month = self.month?;
        let number = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        match (number.len(), self.day) {
            (1..=2, None) => self.day = Some(Day::OfMonth(month, number.parse().ok()?, None)),
            (4, Some(Day::OfMonth(month, day, None))) => {
                self.day = Some(Day::OfMonth(month, day, Some(number.parse().ok()?)));
            }
            _ => return None,
        }
        Some(1)
    }

    fn resolve(self, at: Option<Timestamp>, local: &TimeZone) -> Option<Timestamp> {
        if self.instant.is_some() {
            return self.instant;
        }
        let at = at?;
        if self.hour.is_none() && self.day.is_none() {
            return at.checked_add(self.amount).ok();
        }
        let zone = self.zone.clone().unwrap_or_else(|| local.clone());
        let now = zone.to_datetime(at);
        let (hour, minute, second) = self.hour.unwrap_or_default();
        let time = Time::new(hour, minute, second, 0).ok()?;
        let date = self.date(now, time)?;
        zone.to_timestamp(date.to_datetime(time)).ok()
    }

    /// The first day that fits and is not over.
    fn date(&self, now: DateTime, time: Time) -> Option<Date> {
        let today = now.date();
        let passed = time <= now.time();
        match self.day {
            None if passed => today.tomorrow().ok(),
            None | Some(Day::Today) => Some(today),
            Some(Day::Tomorrow) => today.tomorrow().ok(),
            Some(Day::On(weekday)) if today.weekday() == weekday && !passed => Some(today),
            Some(Day::On(weekday)) => today.nth_weekday(1, weekday).ok(),
            Some(Day::Date(date)) => Some(date),
            Some(Day::OfMonth(month, day, Some(year))) => Date::new(year, month, day).ok(),
            Some(Day::OfMonth(month, day, None)) => {
                let date = Date::new(today.year(), month, day).ok()?;
                if date < today { Date::new(today.year() + 1, month, day).ok() } else { Some(date) }
            }
        }
    }
}

fn day_word(word: &str) -> Option<Day> {
    if word.contains('-')
        && let Ok(date) = word.parse()
    {
        return Some(Day::Date(date));
    }
    Some(match word {
        "today" => Day::Today,
        "tomorrow" => Day::Tomorrow,
        "mon" | "monday" => Day::On(Weekday::Monday),
        "tue" | "tues" | "tuesday" => Day::On(Weekday::Tuesday),
        "wed" | "wednesday" => Day::On(Weekday::Wednesday),
        "thu" | "thur" | "thurs" | "thursday" => Day::On(Weekday::Thursday),
        "fri" | "friday" => Day::On(Weekday::Friday),
        "sat" | "saturday" => Day::On(Weekday::Saturday),
        "sun" | "sunday" => Day::On(Weekday::Sunday),
        _ => return None,
    })
}

fn month(word: &str) -> Option<i8> {
    const MONTHS: [(&str, &str); 12] = [
        ("jan", "january"),
        ("feb", "february"),
        ("mar", "march"),
        ("apr", "april"),
        ("may", "may"),
        ("jun", "june"),
        ("jul", "july"),
        ("aug", "august"),
        ("sep", "september"),
        ("oct", "october"),
        ("nov", "november"),
        ("dec", "december"),
    ];
    let found = MONTHS.iter().position(|(short, long)| *short == word || *long == word)?;
    i8::try_from(found + 1).ok()
}

/// Seconds of a unit of time.
fn unit(word: &str) -> Option<f64> {
    Some(match word {
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600.0,
        "d" | "day" | "days" => 86_400.0,
        "w" | "week" | "weeks" => 604_800.0,
        _ => return None,
    })
}

fn plain_number(word: &str) -> Option<f64> {
    let digits = !word.is_empty() && word.len() <= 9 && word.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    if digits { word.parse().ok() } else { None }
}

fn seconds(count: f64) -> Option<SignedDuration> {
    SignedDuration::try_from_secs_f64(count).ok()
}

/// `2h`, `2h5m30s`: numbers with their units glued on.
fn unit_amount(word: &str) -> Option<SignedDuration> {
    let mut rest = word;
    let mut sum = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| c.is_ascii_alphabetic())?;
        let (number, tail) = rest.split_at_checked(digits)?;
        let letters = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
        let (name, behind) = tail.split_at_checked(letters)?;
        sum += plain_number(number)? * unit(name)?;
        rest = behind;
    }
    seconds(sum)
}

/// `17:00`, `5pm`, `5:30 pm`, `noon`: hour, minute, second, and how many words they took.
fn hour(word: &str, next: &str) -> Option<((i8, i8, i8), usize)> {
    match word {
        "noon" => return Some(((12, 0, 0), 1)),
        "midnight" => return Some(((0, 0, 0), 1)),
        _ => {}
    }
    let half = |text: &str| match text {
        "am" | "a.m" | "a.m." => Some(false),
        "pm" | "p.m" | "p.m." => Some(true),
        _ => None,
    };
    let clock = word.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '.');
    let glued = half(word.strip_prefix(clock)?);
    let (afternoon, used) = match (glued, half(next)) {
        (Some(half), _) => (Some(half), 1),
        (None, Some(half)) if clock == word => (Some(half), 2),
        _ if clock == word => (None, 1),
        _ => return None,
    };
    let mut parts = clock.split(':').map(|part| part.parse::<i8>().ok());
    let hour = parts.next()??;
    let (minute, second) = (parts.next(), parts.next());
    // A bare number is no time of day.
    if parts.next().is_some() || (minute.is_none() && afternoon.is_none()) {
        return None;
    }
    let hour = match afternoon {
        None => hour,
        Some(_) if !(1..=12).contains(&hour) => return None,
        Some(pm) => hour % 12 + if pm { 12 } else { 0 },
    };
    Some(((hour, minute.unwrap_or(Some(0))?, second.unwrap_or(Some(0))?), used))
}

fn zone(word: &str) -> Option<TimeZone> {
    if matches!(word, "utc" | "gmt" | "z") {
        return Some(TimeZone::UTC);
    }
    // The database that is compiled in, so that the same bytes give the same time on every machine.
    word.contains('/').then(|| TimeZoneDatabase::bundled().get(word).ok()).flatten()
}

#[cfg(test)]
#[path = "resets_tests.rs"]
mod tests;
