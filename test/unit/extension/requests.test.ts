import type { RequestPermissionRequest } from "@zed-industries/agent-client-protocol";
import { expect, test } from "vitest";
import type { PanelEvent } from "../../../agent-core/protocol/panel-events.ts";
import {
  type NoticeButton,
  permissionNotice,
  type RequestNotice,
  Requests,
} from "../../../extension/requests/requests.ts";

// Requests of the agent: a card in the panel, and a notification only while the panel does not show it.
const options = [
  { optionId: "once", name: "Allow Once", kind: "allow_once" },
  { optionId: "always", name: "Always Allow", kind: "allow_always" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
] as const;

function permission(command: string): RequestPermissionRequest {
  const hermes = { reasons: ["it deletes a.txt"], command, grant: "`rm` with any arguments" };
  return { sessionId: "s1", toolCall: { toolCallId: "c1" }, options: [...options], _meta: { hermes } };
}

const question = (choices: readonly string[]) => ({
  mode: "form" as const,
  sessionId: "s1",
  message: "Drop the table?",
  requestedSchema: { type: "object" as const, properties: { choice: { type: "string" as const, enum: [...choices] } } },
});

type Shown = { readonly notice: RequestNotice; readonly closed: AbortSignal; press(button?: NoticeButton): void };

function desk(isVisible: boolean) {
  const state = { isVisible };
  const events: PanelEvent[] = [];
  const revealed: string[] = [];
  const notices: Shown[] = [];
  const requests = new Requests({
    show: (_sessionId, event) => events.push(event),
    changed: () => undefined,
    isInSight: () => state.isVisible,
    reveal: (sessionId) => revealed.push(sessionId),
    notify: (notice, closed) => new Promise((press) => notices.push({ notice, closed, press })),
  });
  const look = (visible: boolean): void => {
    state.isVisible = visible;
    requests.sightChanged();
  };
  return { requests, events, revealed, notices, look };
}

const idOf = ([event]: readonly PanelEvent[]): string => (event && "requestId" in event ? event.requestId : "");
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const never = new AbortController().signal;

test("while the panel shows the card there is no notification", async () => {
  const { requests, events, notices } = desk(true);
  const answer = requests.permission(permission("rm a.txt"), never);
  expect(notices).toEqual([]);
  requests.answer(idOf(events), { kind: "option", optionId: "once" });
  expect(await answer).toEqual({ outcome: "selected", optionId: "once" });
});

test("a hidden panel gets one notification, which goes when the panel is shown", async () => {
  const { requests, notices, look } = desk(true);
  void requests.permission(permission("rm a.txt"), never);
  look(false);
  look(false);
  expect(notices.map(({ closed }) => closed.aborted)).toEqual([false]);
  look(true);
  expect(notices.map(({ closed }) => closed.aborted)).toEqual([true]);
});

test("the notification answers once or opens the card, and closing it leaves the card open", async () => {
  const { requests, events, notices, revealed } = desk(false);
  const answer = requests.permission(permission("rm a.txt"), never);
  notices[0]?.press(undefined);
  await settled();
  expect(events.map(({ kind }) => kind)).toEqual(["permission"]);
  const second = requests.permission(permission("rm a.txt"), never);
  notices[1]?.press({ title: "Review" });
  await settled();
  expect(revealed).toEqual(["s1"]);
  requests.answer(idOf(events), { kind: "option", optionId: "reject" });
  requests.answer(idOf(events.slice(1)), { kind: "option", optionId: "once" });
  expect(await answer).toEqual({ outcome: "selected", optionId: "reject" });
  await second;
});

test("a question has no choices in its notification, and stays open until the user answers in the card", async () => {
  const { requests, events, notices, revealed } = desk(false);
  const answer = requests.question(question(["Yes, drop it", "No"]), never);
  expect(notices[0]?.notice).toEqual({ text: "Hermes has a question.", buttons: [{ title: "Show Question" }] });
  notices[0]?.press({ title: "Show Question" });
  await settled();
  expect([revealed, events.length]).toEqual([["s1"], 1]);
  requests.answer(idOf(events), { kind: "text", text: "No" });
  expect(await answer).toEqual({ action: "accept", content: { choice: "No" } });
});

test("a withdrawn request closes its notification", async () => {
  const { requests, notices } = desk(false);
  const turn = new AbortController();
  const answer = requests.permission(permission("rm a.txt"), turn.signal);
  turn.abort();
  expect(await answer).toEqual({ outcome: "cancelled" });
  expect(notices[0]?.closed.aborted).toBe(true);
});

test("a notification shows a short command in full, with the answers that last for one call", () => {
  expect(permissionNotice({ command: "git push --force", reasons: ["Overwrites a remote branch"] }, options)).toEqual({
    text: "Hermes asks to run: git push --force (Overwrites a remote branch)",
    buttons: [{ title: "Review" }, { title: "Allow Once", optionId: "once" }, { title: "Reject", optionId: "reject" }],
  });
  expect(permissionNotice({ command: "rm \u202ex" }, options).text).toBe("Hermes asks to run: rm ⟨U+202E⟩x");
});

test("a reason that a notification would change is left for the card, and so are the answers", () => {
  expect(permissionNotice({ command: "ls", reasons: ["reads [x](command:y)"] }, options)).toEqual({
    text: "Hermes asks to run: ls",
    buttons: [{ title: "Review" }],
  });
});

test.each([
  ["a link", "echo [safe](command:workbench.action.quit)"],
  ["several lines", "ls\nrm -rf x"],
  ["blanks that a notification joins", "rm 'a  b'"],
  ["more text than fits", `rm ${"a".repeat(200)}`],
])("a command with %s is not in the notification, which only leads to the card", (_title, command) => {
  expect(permissionNotice({ command }, options)).toEqual({
    text: "Hermes asks for your permission to run a command.",
    buttons: [{ title: "Review" }],
  });
});

test("the notification of a sub-agent's request names its task", () => {
  const text = (task: string): string => permissionNotice({ command: "npm publish", task }, options).text;
  expect(text("Update the docs")).toBe('Hermes, in the task "Update the docs", asks to run: npm publish');
  expect(text("x".repeat(80))).toBe(`Hermes, in the task "${"x".repeat(60)}…", asks to run: npm publish`);
  expect(text("[x](command:y)")).toBe("A Hermes task asks to run: npm publish");
});
