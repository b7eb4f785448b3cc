import { beforeEach, describe, expect, test } from "vitest";
import { parsePanelMessage } from "../../../extension/chat/panel-message.ts";
import { PromptQueue } from "../../../extension/chat/prompt-queue.ts";
import type { QueuedPrompt } from "../../../webview/panel-protocol.ts";

describe("the queue of messages typed while the agent works", () => {
  let shown: readonly QueuedPrompt[];
  let queue: PromptQueue;
  let ids: readonly [string, string, string];
  const texts = (): string[] => shown.map(({ text }) => text);

  beforeEach(() => {
    queue = new PromptQueue((prompts) => {
      shown = prompts;
    });
    ids = [queue.add("one"), queue.add("two"), queue.add("three")];
  });

  test("gives them in the order they were typed", () => {
    expect([queue.take()?.text, queue.take()?.text, queue.take()?.text, queue.take()]).toEqual([
      "one",
      "two",
      "three",
      undefined,
    ]);
    expect(shown).toEqual([]);
  });

  test("moves one to any place; beyond the end is the end", () => {
    queue.move(ids[2], 0);
    expect(texts()).toEqual(["three", "one", "two"]);
    queue.move(ids[2], 1);
    expect(texts()).toEqual(["one", "three", "two"]);
    queue.move(ids[0], 99);
    expect(texts()).toEqual(["three", "two", "one"]);
    queue.move("gone", 0);
    expect(texts()).toEqual(["three", "two", "one"]);
  });

  test("sends neither the one that is being changed nor what stands behind it", () => {
    queue.hold(ids[0]);
    expect(queue.take()).toBeUndefined();
    queue.edit(ids[0], "uno");
    expect(queue.take()?.text).toBe("uno");
  });

  test("lets go of what a panel that was reloaded has been changing", () => {
    queue.hold(ids[0]);
    queue.releaseAll();
    expect(queue.take()?.text).toBe("one");
  });

  test("neither changes nor removes nor takes what is on its way into the turn", () => {
    expect(queue.steer(ids[0])).toBe("one");
    queue.hold(ids[0]);
    queue.edit(ids[0], "uno");
    queue.remove(ids[0]);
    expect(shown[0]).toEqual({ id: ids[0], text: "one", state: "steering" });
    expect(queue.take()?.text).toBe("two");
    queue.arrived();
    expect(texts()).toEqual(["three"]);
  });

  test("takes back what could not be brought into the turn", () => {
    queue.steer(ids[1]);
    queue.unsteer(ids[1]);
    queue.steer(ids[2]);
    queue.hold(ids[0]);
    queue.unsteerAll();
    expect(shown.map(({ state }) => state)).toEqual(["editing", "waiting", "waiting"]);
  });

  test("is reached by well-formed messages of the panel only", () => {
    expect(parsePanelMessage({ type: "queue-move", id: "a", to: 2 })).toEqual({ type: "queue-move", id: "a", to: 2 });
    expect(parsePanelMessage({ type: "queue-move", id: "a", to: -1 })).toBeUndefined();
    expect(parsePanelMessage({ type: "queue-hold" })).toBeUndefined();
    expect(parsePanelMessage({ type: "prompt", text: "x", now: false })).toBeUndefined();
  });
});
