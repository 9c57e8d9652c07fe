//! The transports alone, as the driver has them, against the real programs.

use trellis::machine::wire;
use trellis::model::ids::Agent::{Claude, Codex};
use trellis::model::reach::{InFlight, InputBox, OnItsWay, Tick, Transport};
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
        let entry = InFlight { text: wire.into(), queue_id: report.queue_id, carrier: None };
        rig.wait("nothing on its way", || port.probe(session, Some(&entry)).on_its_way == OnItsWay::No);
    }
    // A person's half sentence in Claude's box holds a message; Codex's queue does not mind one in its.
    rig.tmux(&["send-keys", "-t", "%0", "-l", "half a sen"]);
    rig.wait("the half sentence", || port.probe(rig.implementer(), None).input == InputBox::Other);
    assert!(matches!(port.probe(rig.implementer(), None).ticks.box_empty, Tick::Missing(_)));
    assert_eq!(port.send(rig.implementer(), "glued").last_key_at, None);
    Ok(())
}
