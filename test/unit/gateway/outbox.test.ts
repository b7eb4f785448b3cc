import { expect, test } from "vitest";
import type { Limits, Outgoing, Sent } from "../../../gateway/adapters/adapter.ts";
import type { OutgoingEntry } from "../../../gateway/journal.ts";
import { Outbox } from "../../../gateway/outbox/outbox.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const LIMITS: Limits = {
  textLength: 100,
  measure: "utf16",
  markup: "plain",
  perChatMs: 1_000,
  perSecond: 3,
  groupPerMinute: 4,
  editMs: 1_300,
  buttons: 3,
  fileBytes: 10,
};

function setUp(answer: (text: string, tries: number) => Sent = () => ({ ok: true, id: "1" })) {
  const clock = new ManualClock(1_000_000);
  const sent: { readonly at: number; readonly chat: string; readonly text: string }[] = [];
  const lines: string[] = [];
  const send = (chat: string, { text }: Outgoing): Promise<Sent> => {
    sent.push({ at: clock.now() - 1_000_000, chat, text });
    return Promise.resolve(answer(text, sent.length));
  };
  const sender = {
    limits: LIMITS,
    send,
    edit: (chat: string, _: string, message: Outgoing) => send(chat, message),
    sendFile: () => send("", { text: "file", isPlain: true, buttons: [], nonce: "" }),
  };
  const outgoing = new Map<string, OutgoingEntry>();
  const journal = { outgoing, end: () => undefined, sending: () => undefined, sent: () => undefined };
  const readFile = () => Promise.reject(new Error("gone"));
  const outbox = new Outbox({ journal, clock, readFile, senderOf: () => sender, log: (line) => lines.push(line) });
  /** In small steps, in which promises settle. */
  const advance = async (ms: number) => {
    await clock.advance(0);
    for (let passed = 0; passed < ms; passed += 100) await clock.advance(100);
  };
  const say = (chat: string, text: string, isGroup = false) => outbox.say({ platform: "p", chat, isGroup }, text);
  return { advance, sent, lines, say };
}

test("Messages keep their order in a chat, and the rates of chat, platform and group", async () => {
  const { advance, sent, say } = setUp();
  for (const text of ["one", "two"]) void say("a", text);
  for (const chat of ["b", "c", "d"]) void say(chat, "hello");
  for (let at = 0; at < 6; at += 1) void say("g", `g${at}`, true);
  await advance(130_000);
  expect(sent.filter(({ chat }) => chat === "a").map(({ text }) => text)).toEqual(["one", "two"]);
  const times = (chat: string) => sent.filter((one) => one.chat === chat).map(({ at }) => at);
  const [first = 0, second = 0] = times("a");
  expect(second - first).toBeGreaterThanOrEqual(1_000);
  const group = times("g");
  expect(group).toHaveLength(6);
  expect((group[4] ?? 0) - (group[0] ?? 0)).toBeGreaterThanOrEqual(60_000);
  for (const { at } of sent)
    expect(sent.filter((one) => one.at > at - 1_000 && one.at <= at).length).toBeLessThanOrEqual(3);
});

test("A platform that asks for a pause gets it for all chats", async () => {
  const { advance, sent, say } = setUp((_, tries) =>
    tries === 1 ? { ok: false, kind: "rate", reason: "", retryAfterMs: 30_000 } : { ok: true, id: "1" },
  );
  const first = say("a", "one");
  await advance(10);
  void say("b", "two");
  await advance(29_000);
  expect(sent).toHaveLength(1);
  await advance(5_000);
  expect(sent.map(({ text }) => text).sort()).toEqual(["one", "one", "two"]);
  expect(await first).toBe("1");
});

test("An unknown outcome is tried three times with a mark, and a refused message once", async () => {
  const { advance, sent, say, lines } = setUp((text) => ({
    ok: false,
    kind: /no/.test(text) ? "refused" : "unknown",
    reason: "blocked",
  }));
  const unknown = say("a", "maybe");
  const refused = say("b", "no");
  await advance(300_000);
  expect(await unknown).toBeUndefined();
  expect(await refused).toBeUndefined();
  expect(sent.map(({ text }) => text)).toEqual(["maybe", "no", "(perhaps a repeat) maybe", "(perhaps a repeat) maybe"]);
  expect(lines).toEqual(["p: a message was refused (refused: blocked)", "p: a message was given up after 3 tries"]);
});
