import { describe, expect, test } from "vitest";
import { PanelMessage } from "../../../../agent-core/protocol/panel-messages.ts";
import * as queue from "../../../../extension/chat/prompt-queue.ts";

const parse = (message: unknown) => PanelMessage.safeParse(message).data;

describe("the queue of messages sent while a turn runs", () => {
  const three = ["one", "two", "three"].reduce<queue.PromptQueue>(
    (sent, text, index) => queue.add(sent, String(index + 1), { text }),
    [],
  );
  const texts = (prompts: queue.PromptQueue): string[] => prompts.map(({ text }) => text);

  test("gives them in the order in which they were sent", () => {
    expect(texts(three)).toEqual(["one", "two", "three"]);
    expect(queue.next(three)?.text).toBe("one");
    expect(queue.next(queue.remove(three, "1"))?.text).toBe("two");
    expect(queue.next([])).toBeUndefined();
  });

  test("moves one to any place; an index past the end means the end", () => {
    const first = queue.move(three, "3", 0);
    expect(texts(first)).toEqual(["three", "one", "two"]);
    const second = queue.move(first, "3", 1);
    expect(texts(second)).toEqual(["one", "three", "two"]);
    const last = queue.move(second, "1", 99);
    expect(texts(last)).toEqual(["three", "two", "one"]);
    expect(queue.move(last, "gone", 0)).toBe(last);
  });

  test("sends neither a message that is being edited nor the ones after it", () => {
    const held = queue.hold(three, "1");
    expect(queue.next(held)).toBeUndefined();
    expect(queue.next(queue.edit(held, "1", { text: "uno" }))?.text).toBe("uno");
  });

  test("ends the edits of a panel that was reloaded", () => {
    expect(queue.next(queue.releaseAll(queue.hold(three, "1")))?.text).toBe("one");
    expect(queue.releaseAll(three)).toBe(three);
  });

  test("neither edits nor removes nor sends a message that is on its way into the turn", () => {
    const steering = queue.steer(three, "1");
    expect(queue.waiting(steering, "1")).toBeUndefined();
    const untouched = queue.remove(queue.edit(queue.hold(steering, "1"), "1", { text: "uno" }), "1");
    expect(untouched[0]).toEqual({ id: "1", text: "one", state: "steering" });
    expect(queue.next(untouched)?.text).toBe("two");
    expect(texts(queue.arrived(untouched))).toEqual(["two", "three"]);
  });

  test("takes back what the turn did not take", () => {
    const one = queue.unsteer(queue.steer(three, "2"), "2");
    expect(one.map(({ state }) => state)).toEqual(["waiting", "waiting", "waiting"]);
    const several = queue.unsteer(queue.hold(queue.steer(one, "3"), "1"));
    expect(several.map(({ state }) => state)).toEqual(["editing", "waiting", "waiting"]);
  });

  test("is reached by well-formed messages of the panel only", () => {
    expect(parse({ type: "queue-move", id: "a", to: 2 })).toEqual({ type: "queue-move", id: "a", to: 2 });
    expect(parse({ type: "queue-move", id: "a", to: -1 })).toBeUndefined();
    expect(parse({ type: "queue-hold" })).toBeUndefined();
    expect(parse({ type: "prompt", text: "x", now: false })).toBeUndefined();
  });
});
