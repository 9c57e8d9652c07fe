//! The transports alone, as the driver has them, against the real programs.

use trellis::machine::wire;
use trellis::model::ids::Agent::{Claude, Codex};
use trellis::model::reach::{InFlight, InputBox, LiveStatus, OnItsWay, Tick, Transport};
use trellis::model::text::fold;

use super::install::{Part, Skip, told};
use super::port::Port;
use super::rig::{Plan, Rig};

#[test]
fn each_agent_is_found_and_takes_one_message() {
    told(one_message_each());
}

fn one_message_each() -> Result<(), Skip> {
    let rig = Rig::start(Part::Small, Plan::pair(Claude, Codex))?;
    let mut port = Port::new(&rig);
    let texts = [
        (rig.implementer(), "/status is not what I mean.\n\nLook at these:\n- one\n- two\n\tthree \\"),
        (rig.reviewer(), "-- look at \u{1b}[201~ these:\n\n- one\n- two"),
    ];
    for (session, text) in texts {
        let reach = port.probe(session, None);
        assert_eq!(reach.ticks.missing(), None, "{reach:?}");
        assert_eq!((reach.transport, reach.input), (Some(Transport::Tmux), InputBox::Empty));
        assert_eq!((reach.on_its_way, reach.replaced_by), (OnItsWay::No, None));
        let wire = wire::whole(text, 0, session.agent).unwrap().text;
        let report = port.send(session, &wire);
        assert_eq!(report.stopped, None, "{report:?}");
        assert!(report.entered && report.last_key_at.is_some());
        let wanted = fold(&wire);
        rig.wait("the prompt", || rig.prompts().iter().filter(|asked| fold(&asked.prompt) == wanted).count() == 1);
        let entry = InFlight { text: wire.into(), queue_id: report.queue_id, ..InFlight::default() };
        rig.wait("nothing on its way", || port.probe(session, Some(&entry)).on_its_way == OnItsWay::No);
    }
    // A person's half sentence in Claude's box holds a message; Codex's queue does not mind one in its.
    rig.tmux(&["send-keys", "-t", "%0", "-l", "half a sen"]);
    rig.wait("the half sentence", || port.probe(rig.implementer(), None).input == InputBox::Other);
    assert!(matches!(port.probe(rig.implementer(), None).ticks.box_empty, Tick::Missing(_)));
    assert_eq!(port.send(rig.implementer(), "glued").last_key_at, None);
    Ok(())
}

#[test]
fn hostile_signs_and_low_panes_reach_claudes_box() {
    told(signs_and_low_panes());
}

fn signs_and_low_panes() -> Result<(), Skip> {
    let rig = Rig::start(Part::Whole, Plan::pair(Claude, Codex))?;
    let mut port = Port::new(&rig);
    let accents = "\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}\u{308}\u{309}\u{30a}";
    let lines = "Feedback:\n\n\n\n1. The total is wrong.\n2. There is no test.\n3. Rename it.";
    let texts = [
        (
            60,
            String::from(
                "skin 👍🏽 👋🏻, young \u{1fae9}, turned \u{202e}abc\u{202c} \u{2067}d\u{2069}, fill \u{3164} end",
            ),
        ),
        (60, format!("piled z{accents}{accents} end")),
        (60, String::from("\u{3164}/clear")),
        (60, String::from("\u{115f}!touch it")),
        (60, String::from("that made me :smile")),
        (60, String::from("quote <pasted_content id=\"ab12\">\nx\n</pasted_content id=\"ab12\"> end")),
        (60, "a line of our own\n".repeat(200)),
        (11, lines.to_owned()),
        (11, "a rather long line ".repeat(40)),
        (10, format!("{lines}\n4. And more.")),
        (10, "another rather long line ".repeat(40)),
    ];
    for (turns, (rows, text)) in (1..).zip(texts) {
        rig.tmux(&["resize-window", "-t", "%0", "-x", "80", "-y", &rows.to_string()]);
        let session = rig.implementer();
        let over = || rig.transcript(session).matches("\"turn_duration\"").count() == turns;
        rig.wait("the end of its turn", || {
            let reach = port.probe(session, None);
            over() && reach.ticks.missing().is_none() && reach.status == LiveStatus::Idle
        });
        let wire = wire::whole(&text, 0, session.agent).unwrap().text;
        let report = port.send(session, &wire);
        assert_eq!(report.stopped, None, "{rows} rows, {text:?}\n{}", rig.screens());
        let wanted = fold(&wire);
        rig.wait("the prompt", || rig.prompts().iter().filter(|asked| fold(&asked.prompt) == wanted).count() == 1);
    }
    rig.tmux(&["resize-window", "-t", "%0", "-x", "80", "-y", "9"]);
    rig.wait("the word of the low pane", || {
        let tick = port.probe(rig.implementer(), None).ticks.box_empty;
        matches!(tick, Tick::Missing(why) if why.contains("only 9 rows"))
    });
    assert_eq!(port.send(rig.implementer(), "nothing").last_key_at, None);
    Ok(())
}
