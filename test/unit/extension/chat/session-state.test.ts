import type { SessionUpdate } from "@zed-industries/agent-client-protocol";
import { describe, expect, test } from "vitest";
import {
  closedSession,
  reduceSession,
  type SessionEffect,
  type SessionEvent,
  type SessionState,
} from "../../../../extension/chat/session-state.ts";

// One test for each transition of a session.
const idle: SessionState = { ...closedSession, phase: "open", attempt: 1 };
const running: SessionState = { ...idle, turn: { kind: "running", sendsNext: false } };
const prompt = (text: string, now?: boolean): SessionEvent => ({ type: "prompt", id: text, text, ...(now && { now }) });

/** The state after all events, and the effects of the last one in short form. */
function play(start: SessionState, ...events: readonly SessionEvent[]) {
  let state = start;
  let effects: readonly SessionEffect[] = [];
  for (const event of events) [state, effects] = reduceSession(state, event);
  return { state, effects: effects.map(short), queue: state.queue.map(({ text, state: is }) => `${text}:${is}`) };
}

function short(effect: SessionEffect): string {
  switch (effect.type) {
    case "emit": {
      const { event } = effect;
      if (event.kind === "notice") return `${event.severity}: ${event.text}`;
      if (event.kind === "turn-end") return `turn-end ${event.stopReason ?? event.error}`;
      return event.kind === "prompt" ? `show ${event.text}` : event.kind;
    }
    case "send-prompt":
      return `send ${effect.text}`;
    case "steer":
    case "compose":
      return `${effect.type} ${effect.text}`;
    case "open":
      return `open ${effect.attempt}`;
    case "rewind":
      return `rewind ${effect.position} ${effect.text}`;
    default:
      return effect.type;
  }
}

test("/stop, /steer and /queue act on the running turn; without one they are sent", () => {
  expect(play(running, prompt("/stop"))).toMatchObject({ effects: ["cancel"], queue: [] });
  expect(play(running, prompt("/steer in French"))).toMatchObject({ effects: ["queue", "steer in French"] });
  expect(play(running, prompt("/queue second"))).toMatchObject({ effects: ["queue"], queue: ["second:waiting"] });
  expect(play(running, prompt("/steer"))).toMatchObject({ effects: ["queue"], queue: ["/steer:waiting"] });
  expect(play(idle, prompt("/stop")).effects).toEqual(["show /stop", "send /stop"]);
});

test("attachments stay with their message in the queue, in a steered turn, on resend and after its removal", () => {
  const attachments = [{ kind: "file", uri: "file:///w/a.ts", label: "a.ts" }] as const;
  const effectsOf = (start: SessionState, ...events: readonly SessionEvent[]): readonly SessionEffect[] => {
    let [state, effects] = [start, [] as readonly SessionEffect[]];
    for (const event of events) [state, effects] = reduceSession(state, event);
    return effects;
  };
  const sent: SessionEvent = { type: "prompt", id: "1", text: "one", attachments };
  const shown = { type: "emit", event: { kind: "prompt", id: "1", text: "one", attachments } };
  const send = { type: "send-prompt", text: "one", attachments };
  expect(effectsOf(idle, sent)).toEqual([shown, send]);
  expect(effectsOf(closedSession, sent, { type: "opened", attempt: 1 })).toEqual([shown, send]);
  expect(effectsOf(running, sent, { type: "turn-ended", stopReason: "end_turn" })).toEqual(
    expect.arrayContaining([shown, send]),
  );
  expect(effectsOf(running, { ...sent, now: true })).toContainEqual({ ...sent, type: "steer" });
  const edited: SessionEvent = { type: "queue-edit", id: "1", text: "two" };
  expect(effectsOf(running, sent, edited, { type: "queue-send", id: "1" })).toContainEqual({
    type: "steer",
    id: "1",
    text: "two",
  });
  const again: SessionEvent = { type: "resend", position: 0, text: "", attachments };
  expect(effectsOf(idle, again)).toEqual([{ type: "rewind", position: 0, text: "", attachments }]);
  const block = { type: "resource_link", uri: "file:///w/a.ts", name: "a.ts" };
  const rewound = { position: 0, prompt: "one", attachments: [block] };
  const removed = { sessionUpdate: "session_info_update", _meta: { hermes: { rewound } } } as const;
  expect(effectsOf(idle, { type: "update", update: removed })).toContainEqual({
    type: "compose",
    text: "one",
    attachments,
  });
});

describe("opening", () => {
  test("opens once", () => {
    expect(play(closedSession, { type: "open" }).effects).toEqual(["open 1"]);
    expect(play(closedSession, { type: "open" }, { type: "open" }).effects).toEqual([]);
    expect(play(idle, { type: "open" }).effects).toEqual([]);
  });

  test("a prompt opens the session and is sent when it is open", () => {
    const starting = play(closedSession, prompt("one"));
    expect(starting).toMatchObject({ effects: ["open 1"], state: { turn: { kind: "starting", text: "one" } } });
    const opened = play(starting.state, { type: "opened", attempt: 1 });
    expect(opened).toMatchObject({ effects: ["show one", "send one"], state: { turn: { kind: "running" } } });
  });

  test("a prompt waits for a session that is being opened; further ones are queued", () => {
    const opening = play(closedSession, { type: "open" }, prompt("one"), prompt("two", true));
    expect(opening).toMatchObject({ queue: ["two:waiting"], state: { turn: { kind: "starting", text: "one" } } });
  });

  test("a failure shows the prompt with its error, and the next prompt opens again", () => {
    const failed = play(closedSession, prompt("one"), { type: "open-failed", attempt: 1, message: "no folder" });
    expect(failed).toMatchObject({ effects: ["show one", "turn-end no folder"], state: { phase: "closed" } });
    expect(play(failed.state, prompt("two")).effects).toEqual(["open 2"]);
  });

  test("a stop while the session opens ends the turn before the agent has the message, and the queue waits", () => {
    const stopped = play(closedSession, prompt("one"), prompt("two"), { type: "cancel" });
    expect(stopped).toMatchObject({ effects: ["cancel"], state: { turn: { kind: "starting" } } });
    const opened = play(stopped.state, { type: "opened", attempt: 1 });
    expect(opened).toMatchObject({ effects: ["show one", "turn-end cancelled"], queue: ["two:waiting"] });
    const failed = play(stopped.state, { type: "open-failed", attempt: 1, message: "stopped" });
    expect(failed).toMatchObject({ effects: ["show one", "turn-end cancelled"], state: { turn: { kind: "idle" } } });
  });

  test("a prompt whose start takes long is shown once in each log", () => {
    const delayed = play(closedSession, prompt("one"), { type: "show-start", now: true });
    expect(delayed.effects).toEqual(["show one"]);
    const fail: SessionEvent = { type: "open-failed", attempt: 1, message: "full" };
    expect(play(delayed.state, fail).effects).toEqual(["turn-end full"]);
    expect(play(delayed.state, { type: "show-start", now: false }, fail).effects).toEqual([
      "show one",
      "turn-end full",
    ]);
    expect(play(delayed.state, { type: "opened", attempt: 1 }).effects).toEqual(["show one", "send one"]);
    expect(play(idle, { type: "show-start", now: true })).toMatchObject({ state: idle, effects: [] });
  });

  test("a session that could not be loaded is replaced, and the reason shown", () => {
    const opened = play(closedSession, { type: "open" }, { type: "opened", attempt: 1, loadError: "it is locked" });
    expect(opened.effects).toEqual(["error: The session cannot be opened: it is locked"]);
  });

  test("results of an earlier attempt change nothing", () => {
    const { state } = play(closedSession, { type: "open" }, { type: "agent-restarted" });
    expect(play(state, { type: "opened", attempt: 1 })).toMatchObject({ state, effects: [] });
    expect(play(state, { type: "open-failed", attempt: 1, message: "gone" })).toMatchObject({ state, effects: [] });
  });
});

describe("a turn", () => {
  test("starts with a prompt", () => {
    expect(play(idle, prompt("one"))).toMatchObject({ effects: ["show one", "send one"], state: running });
  });

  test("queues further prompts, or steers them into itself", () => {
    expect(play(running, prompt("two"))).toMatchObject({ effects: ["queue"], queue: ["two:waiting"] });
    expect(play(running, prompt("two", true))).toMatchObject({
      effects: ["queue", "steer two"],
      queue: ["two:steering"],
    });
  });

  test("that ends by itself sends the next message of the queue", () => {
    const { effects, state } = play(running, prompt("two"), { type: "turn-ended", stopReason: "end_turn" });
    expect(effects).toEqual(["queue", "turn-end end_turn", "show two", "send two"]);
    expect(state.queue).toEqual([]);
  });

  test("that was stopped or failed leaves the queue to the user", () => {
    const stopped = play(running, prompt("two"), { type: "turn-ended", stopReason: "cancelled" });
    expect(stopped).toMatchObject({
      effects: ["turn-end cancelled"],
      queue: ["two:waiting"],
      state: { turn: idle.turn },
    });
    const failed = play(running, prompt("two"), { type: "turn-failed", message: "no network" });
    expect(failed).toMatchObject({
      effects: ["turn-end no network"],
      queue: ["two:waiting"],
      state: { turn: idle.turn },
    });
  });

  test("can be stopped only while it runs", () => {
    expect(play(running, { type: "cancel" }).effects).toEqual(["cancel"]);
    expect(play(idle, { type: "cancel" }).effects).toEqual([]);
  });

  test("remembers a model that its message chose", () => {
    const update: SessionUpdate = { sessionUpdate: "config_option_update", configOptions: [] };
    expect(play(idle, prompt("/model x"), { type: "update", update }).effects).toEqual(["remember-model", "update"]);
    expect(play(idle, prompt("go"), { type: "update", update }).effects).toEqual(["update"]);
  });
});

describe("the queue", () => {
  const queued = play(running, prompt("a"), prompt("b")).state;
  const stopped = play(queued, { type: "turn-ended", stopReason: "cancelled" }).state;
  const ended: SessionState = { ...stopped, canContinue: true };

  test("sends a message of the user's choice at once", () => {
    expect(play(queued, { type: "queue-send", id: "b" })).toMatchObject({
      effects: ["queue", "steer b"],
      queue: ["a:waiting", "b:steering"],
    });
    expect(play(stopped, { type: "queue-send", id: "b" })).toMatchObject({
      effects: ["queue", "show b", "send b"],
      queue: ["a:waiting"],
    });
    expect(play(queued, { type: "queue-send", id: "gone" }).effects).toEqual([]);
  });

  test("stops the turn for a message and sends it next", () => {
    const interrupted = play(queued, { type: "queue-interrupt", id: "b" });
    expect(interrupted).toMatchObject({ effects: ["queue", "cancel"], queue: ["b:waiting", "a:waiting"] });
    const next = play(interrupted.state, { type: "turn-ended", stopReason: "cancelled" });
    expect(next.effects).toEqual(["queue", "turn-end cancelled", "show b", "send b"]);
    expect(play(stopped, { type: "queue-interrupt", id: "b" }).effects).toEqual(["queue", "show b", "send b"]);
    expect(play(queued, { type: "queue-interrupt", id: "gone" }).effects).toEqual([]);
  });

  test("waits while a message is edited, and continues after it", () => {
    const held = play(queued, { type: "queue-hold", id: "a" }, { type: "turn-ended", stopReason: "end_turn" });
    expect(held).toMatchObject({ effects: ["turn-end end_turn"], queue: ["a:editing", "b:waiting"] });
    const edited = play(held.state, { type: "queue-edit", id: "a", text: "A" });
    expect(edited).toMatchObject({ effects: ["queue", "show A", "send A"], queue: ["b:waiting"] });
    expect(play(held.state, { type: "queue-release" }).queue).toEqual(["a:waiting", "b:waiting"]);
  });

  test("continues when the message that held it up is removed", () => {
    const removed = play(ended, { type: "queue-remove", id: "a" });
    expect(removed).toMatchObject({ effects: ["queue", "show b", "send b"], queue: [] });
    expect(play(stopped, { type: "queue-remove", id: "a" })).toMatchObject({
      effects: ["queue"],
      queue: ["b:waiting"],
    });
  });

  test("is reordered", () => {
    expect(play(queued, { type: "queue-move", id: "b", to: 0 }).queue).toEqual(["b:waiting", "a:waiting"]);
  });

  test("loses a message when the turn has taken it", () => {
    const update: SessionUpdate = { sessionUpdate: "user_message_chunk", content: { type: "text", text: "a" } };
    const steering = play(queued, { type: "queue-send", id: "a" }).state;
    expect(play(steering, { type: "update", update })).toMatchObject({
      effects: ["queue", "update"],
      queue: ["b:waiting"],
    });
    const replayed = { ...steering, turn: idle.turn };
    expect(play(replayed, { type: "update", update }).queue).toEqual(["a:steering", "b:waiting"]);
  });

  test("keeps a message that the turn did not take, and sends it when the turn ended meanwhile", () => {
    const steering = play(queued, { type: "queue-send", id: "a" }).state;
    const failed: SessionEvent = { type: "steer-failed", id: "a", message: "no turn runs" };
    expect(play(steering, failed)).toMatchObject({ queue: ["a:waiting", "b:waiting"] });
    expect(play(steering, failed).effects[1]).toContain("waits in the queue. no turn runs");
    const over: SessionState = { ...steering, turn: idle.turn, canContinue: true };
    expect(play(over, failed).effects).toEqual(["queue", "show a", "send a"]);
  });
});

describe("display.busy_input_mode", () => {
  test.each([
    ["queue", ["queue"]],
    ["steer", ["steer two", "queue"]],
    ["interrupt", ["cancel", "queue"]],
  ] as const)("%s decides what a message does that comes while a turn runs", (busyInputMode, effects) => {
    const open = play(closedSession, { type: "open" }, { type: "opened", attempt: 1, busyInputMode }).state;
    const turn = play(open, prompt("one")).state;
    expect(play(turn, prompt("two")).effects.toSorted()).toEqual([...effects].toSorted());
    expect(play(turn, prompt("/queue two")).effects).toEqual(["queue"]);
  });
});

describe("sending a message again", () => {
  const resend: SessionEvent = { type: "resend", position: 3, text: "other" };

  test("removes it with what followed, then starts a turn", () => {
    const rewinding = play(idle, resend);
    expect(rewinding).toMatchObject({ effects: ["rewind 3 other"], state: { turn: { kind: "rewinding" } } });
    const rewound = play(rewinding.state, { type: "rewound", id: "p", position: 3, text: "other" });
    expect(rewound).toMatchObject({ effects: ["rewind", "show other", "send other"], state: running });
  });

  test("is refused while a turn runs or before the session is open, and the message returns to the composer", () => {
    expect(play(running, resend).effects).toEqual([
      "warning: Stop the running turn before you edit an earlier message.",
      "compose other",
    ]);
    expect(play(closedSession, resend).effects).toEqual(["warning: The session is not open.", "compose other"]);
  });

  test("reports a failure, and the message returns to the composer", () => {
    const failed = play(idle, resend, { type: "rewind-failed", message: "it is gone", position: 3, text: "other" });
    const effects = ["error: The message cannot be sent again. it is gone", "compose other"];
    expect(failed).toMatchObject({ effects, state: idle });
  });
});

describe("messages that the agent removed", () => {
  const removed = (_meta: Record<string, unknown>): SessionEvent => ({
    type: "update",
    update: { sessionUpdate: "session_info_update", _meta },
  });

  test("the first of them is offered in the composer when the user wrote it", () => {
    expect(play(idle, removed({ hermes: { rewound: { position: 4, prompt: "two" } } })).effects).toEqual([
      ...["update", "compose two"],
    ]);
    expect(play(idle, removed({ hermes: { rewound: { position: 4, prompt: null } } })).effects).toEqual(["update"]);
  });

  test("other updates, and updates of another shape, offer nothing", () => {
    expect(play(idle, removed({ hermes: { rewound: { prompt: "two" } } })).effects).toEqual(["update"]);
    expect(play(idle, removed({})).effects).toEqual(["update"]);
    const update: SessionUpdate = { sessionUpdate: "user_message_chunk", content: { type: "text", text: "two" } };
    expect(play(idle, { type: "update", update }).effects).toEqual(["update"]);
  });
});

describe("a restart of the agent", () => {
  test("opens the session again; messages on their way wait again", () => {
    const steering = play(running, prompt("two", true)).state;
    const restarted = play(steering, { type: "agent-restarted" });
    expect(restarted).toMatchObject({ effects: ["queue", "open 2"], queue: ["two:waiting"] });
  });

  test("closes an idle session in the background", () => {
    expect(play({ ...idle, isInBackground: true }, { type: "agent-restarted" }).effects).toEqual(["close"]);
  });
});

describe("leaving", () => {
  test("closes an idle session at once", () => {
    expect(play(idle, { type: "leave" }).effects).toEqual(["close"]);
    expect(play(closedSession, { type: "leave" }).effects).toEqual(["close"]);
  });

  test("lets the turn and its queue continue in the background", () => {
    const left = play(running, prompt("two"), { type: "leave" });
    expect(left.effects).toEqual([]);
    const next = play(left.state, { type: "turn-ended", stopReason: "end_turn" });
    expect(next.effects).toEqual(["queue", "turn-end end_turn", "show two", "send two"]);
    expect(play(next.state, { type: "turn-ended", stopReason: "end_turn" }).effects).toEqual(["turn-end end_turn"]);
  });

  test("starts the turn of a session that is being opened", () => {
    const left = play(closedSession, prompt("one"), { type: "leave" });
    expect(left.effects).toEqual([]);
    expect(play(left.state, { type: "opened", attempt: 1 }).effects).toEqual(["show one", "send one"]);
  });

  test("closes a session without a turn as soon as it is open", () => {
    const left = play(closedSession, { type: "open" }, { type: "leave" }).state;
    expect(play(left, { type: "opened", attempt: 1 }).effects).toEqual(["close"]);
    expect(play(left, { type: "open-failed", attempt: 1, message: "no" }).effects).toEqual(["close"]);
  });

  test("is taken back when the panel returns to the session", () => {
    const { state } = play(idle, { type: "leave" }, { type: "return" });
    expect(play(state, prompt("one")).effects).toEqual(["show one", "send one"]);
  });
});
