//! What the queue records prove.

use super::Queue;

fn queue(texts: &[&str]) -> Queue {
    let mut queue = Queue::default();
    for (at, text) in (0..).zip(texts) {
        queue.enqueue(text, text.starts_with("report"), at, None);
    }
    queue
}

fn waiting(queue: &Queue) -> Vec<String> {
    queue.prompts().into_iter().map(|prompt| prompt.text.to_string()).collect()
}

#[test]
fn a_taken_prompt_waits_no_more() {
    let mut queue = queue(&["a", "b"]);
    queue.take(None);
    assert_eq!(waiting(&queue), ["b"]);
    queue.arrived("a");
    assert_eq!(waiting(&queue), ["b"]);
    queue.take(Some("b"));
    assert_eq!(waiting(&queue), [""; 0]);
}

#[test]
fn two_equal_prompts_are_two() {
    let mut queue = queue(&["a", "a"]);
    queue.take(None);
    queue.arrived("a");
    assert_eq!(waiting(&queue), ["a"]);
}

#[test]
fn a_later_prompt_taken_first_proves_the_earlier_gone() {
    let mut queue = queue(&["ghost", "b", "c"]);
    queue.take(None);
    queue.arrived("b");
    assert_eq!(waiting(&queue), ["c"]);
    // Without any record of its taking.
    let mut queue = self::queue(&["ghost", "b", "c"]);
    queue.arrived("c");
    assert_eq!(waiting(&queue), [""; 0]);
}

#[test]
fn a_report_taken_first_proves_nothing() {
    let mut queue = queue(&["a", "report"]);
    queue.take(None);
    queue.arrived("report");
    assert_eq!(waiting(&queue), ["a"]);
}

#[test]
fn a_message_that_was_never_queued_changes_nothing() {
    let mut queue = queue(&["a"]);
    queue.arrived("typed");
    assert_eq!(waiting(&queue), ["a"]);
    queue.clear();
    assert_eq!(waiting(&queue), [""; 0]);
}

#[test]
fn a_prompt_typed_and_taken_at_once_proves_that_none_waits() {
    let mut queue = queue(&["ghost", "report 1"]);
    queue.typed("b");
    assert_eq!(waiting(&queue), [""; 0]);
    queue.arrived("report 1");
    queue.enqueue("c", false, 9, None);
    queue.typed("c");
    assert_eq!(waiting(&queue), [""; 0], "one that waited and says that it was typed");
}
