// Places where the events of a session reach its hooks, with a real agent, a real journal and real files.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import * as z from "zod";
import { runUnseen } from "../../../agent-core/agent/review-messages.ts";
import type { HookPayload, HookVerdict } from "../../../agent-core/hooks/hook.ts";
import { defineTool, type ToolContext } from "../../../agent-core/tools/tool.ts";
import { call, callTools, type ModelServer, say, startModelServer } from "../../support/model-server/model-server.ts";
import { hook, hookedAgent } from "./support/hooked-agent.ts";

let model: ModelServer;
beforeEach(async () => {
  model = await startModelServer();
});
afterEach(() => model.stop());

const touch = (file: string) => call("terminal", { command: `touch ${file}` });
const write = (path: string) => call("write_file", { path, content: "new\n" });
const lastRequest = () => JSON.stringify(model.requests.at(-1)?.body.messages);
const always = (verdict: HookVerdict) => () => Promise.resolve(verdict);

test("every event of a session reaches its hooks, in order", async () => {
  const seen: HookPayload[] = [];
  const observed = [
    ...["on_session_start", "pre_llm_call", "pre_tool_call", "post_tool_call", "transform_tool_result"],
    ...["on_stop", "pre_verify", "post_llm_call", "on_session_end", "on_session_reset", "on_session_finalize"],
  ] as const;
  const hooks = observed.map((event) =>
    hook(event as never, async (payload) => {
      seen.push(payload);
      return {};
    }),
  );
  const { agent } = hookedAgent(model, hooks, { platform: "Zed" });
  model.script(callTools(write("b.txt")), say("done"), say("again"));
  await agent.chat("go");
  await agent.chat("once more");
  agent.rewind(0);
  await agent.close();
  expect(seen.map(({ hook_event_name }) => hook_event_name)).toEqual([
    ...["on_session_start", "pre_llm_call", "pre_tool_call", "post_tool_call", "transform_tool_result"],
    ...["on_stop", "pre_verify", "post_llm_call", "on_session_end"],
    ...["pre_llm_call", "on_stop", "post_llm_call", "on_session_end", "on_session_reset", "on_session_finalize"],
  ]);
  expect(seen[0]?.extra).toEqual({
    task_id: expect.any(String),
    model: "test-model",
    platform: "Zed",
    source: "startup",
  });
  expect(seen[1]?.extra).toMatchObject({ user_message: "go", is_first_turn: true });
  expect(seen[2]).toMatchObject({ tool_name: "write_file", tool_input: { path: "b.txt", content: "new\n" } });
  expect(seen[3]?.extra).toMatchObject({ ok: true, status: "ok", result: expect.stringContaining("b.txt") });
  expect(seen[6]?.extra).toMatchObject({ attempt: 0, final_response: "done", coding: true });
  expect(seen[7]?.extra).toMatchObject({ assistant_response: "done" });
  expect(seen[8]?.extra).toMatchObject({ completed: true, interrupted: false, failed: false });
});

test("a blocked call never runs; model, card and journal get the reason", async () => {
  const { agent, cwd, entries, progress } = hookedAgent(model, [
    hook("pre_tool_call", always({ decision: "block", reason: "no new files" })),
  ]);
  model.script(callTools(touch("b.txt"), call("mcp__hello__greet", { who: "you" })), say("done"));
  await agent.chat("go");
  expect(existsSync(join(cwd, "b.txt"))).toBe(false);
  expect(existsSync(join(cwd, "greeted.txt"))).toBe(false);
  for (const name of ["terminal", "mcp__hello__greet"]) {
    const text = `${name} was not run: the hook \\"guard.sh\\" blocked it. No new files. Do not try the same thing another way;`;
    expect(lastRequest()).toContain(text);
  }
  const blocked = { name: "guard.sh", event: "pre_tool_call", outcome: "blocked", message: "no new files" };
  expect(entries().filter(({ type }) => type === "hook")).toMatchObject([blocked, blocked]);
  expect(entries().find(({ type }) => type === "tool")).toMatchObject({ ok: false, hooks: [blocked] });
  expect(progress.some((event) => event.type === "hook" && event.run.outcome === "blocked")).toBe(true);
  expect(progress.some(({ type }) => type === "running")).toBe(false);
});

test("a read-only call that starts in the stream is blocked as well", async () => {
  const { agent } = hookedAgent(model, [hook("pre_tool_call", always({ decision: "block", reason: "No reading." }))]);
  model.script(callTools(call("read_file", { path: "a.txt" })), say("done"));
  await agent.chat("go");
  expect(lastRequest()).toContain('read_file was not run: the hook \\"guard.sh\\" blocked it. No reading.');
});

test("a question of a hook asks the user, also about a call that runs unasked", async () => {
  const { agent, asked, cwd } = hookedAgent(model, [
    hook("pre_tool_call", always({ decision: "ask", reason: "Sure about this?" })),
  ]);
  model.script(callTools(touch("b.txt")), say("done"));
  await agent.chat("go");
  expect(asked).toMatchObject([{ name: "terminal", reasons: expect.arrayContaining(["Sure about this?"]) }]);
  expect(asked[0]?.grant).toBeUndefined();
  expect(existsSync(join(cwd, "b.txt"))).toBe(true);
});

test("a changed call runs as changed, and the model and the card show it", async () => {
  const { agent, cwd, progress } = hookedAgent(model, [
    hook("pre_tool_call", always({ input: { path: "safe.txt", content: "safe\n" } })),
  ]);
  model.script(callTools(write("b.txt")), say("done"));
  await agent.chat("go");
  expect(readFileSync(join(cwd, "safe.txt"), "utf8")).toBe("safe\n");
  expect(existsSync(join(cwd, "b.txt"))).toBe(false);
  expect(lastRequest()).toContain('The hook \\"guard.sh\\" changed this call.');
  const cards = progress.filter((event) => event.type === "started");
  expect(cards.at(-1)).toMatchObject({ input: { path: "safe.txt", content: "safe\n" } });
});

test("a changed command is judged anew", async () => {
  const { agent } = hookedAgent(model, [hook("pre_tool_call", always({ input: { command: "rm -rf /" } }))]);
  model.script(callTools(touch("b.txt")), say("done"));
  await agent.chat("go");
  expect(lastRequest()).toContain("This command is blocked in every mode");
});

test("a changed input that does not fit the schema refuses the call", async () => {
  const { agent } = hookedAgent(model, [hook("pre_tool_call", always({ input: { path: 7 } }))]);
  model.script(callTools(write("b.txt")), say("done"));
  await agent.chat("go");
  expect(lastRequest()).toContain("A hook changed the input of this call. write_file: the arguments do not fit");
});

test("an approval of the home answers for the user, but not for protected files and blocked commands", async () => {
  const approving = [hook("pre_tool_call", always({ decision: "approve", reason: "trusted" }))];
  const { agent, asked, cwd, entries } = hookedAgent(model, approving, { approvalMode: () => "ask" });
  model.script(callTools(write("b.txt"), write(".git/hooks/pre-commit"), call("terminal", { command: "rm -rf /" })));
  model.script(say("done"));
  await agent.chat("go");
  expect(existsSync(join(cwd, "b.txt"))).toBe(true);
  expect(asked.map(({ input }) => input)).toEqual([{ path: ".git/hooks/pre-commit", content: "new\n" }]);
  expect(lastRequest()).toContain("This command is blocked in every mode");
  // The calls run at the same time, so their answers come in any order.
  const byHook = entries().filter(({ type, by }) => type === "answer" && by === "hook");
  expect(byHook).toMatchObject([{ outcome: "allowed" }]);
});

test("hooks of a permission request see it and the answer", async () => {
  const seen: unknown[] = [];
  const watch = (payload: HookPayload): Promise<HookVerdict> => {
    seen.push([payload.hook_event_name, payload.tool_name, payload.extra["choice"]]);
    return Promise.resolve({});
  };
  const hooks = [hook("pre_approval_request", watch), hook("post_approval_response", watch)];
  const { agent } = hookedAgent(model, hooks, { approvalMode: () => "ask" });
  model.script(callTools(write("b.txt")), say("done"));
  await agent.chat("go");
  await agent.close();
  expect(seen).toEqual([
    ["pre_approval_request", "write_file", undefined],
    ["post_approval_response", "write_file", "once"],
  ]);
});

test("hooks after a call add to its result, or replace it", async () => {
  const { agent } = hookedAgent(model, [
    hook("post_tool_call", always({ context: "Formatted a.txt." })),
    hook("transform_tool_result", async ({ extra }) => ({ text: `${extra["result"]} (checked)` })),
  ]);
  model.script(callTools(call("read_file", { path: "a.txt" })), say("done"));
  await agent.chat("go");
  expect(lastRequest()).toMatch(/one.*\[From a hook after this call: Formatted a\.txt\.\] \(checked\)/);
});

test("context of a hook is in every request of its turn, in the user's message, and never in the journal", async () => {
  const { agent, journalText } = hookedAgent(model, [hook("pre_llm_call", always({ context: "Today is Monday." }))]);
  model.script(callTools(call("read_file", { path: "a.txt" })), say("done"));
  await agent.chat("go");
  expect(model.requests).toHaveLength(2);
  for (const { body } of model.requests) {
    expect(body.messages.find(({ role }) => role === "user")?.["content"]).toBe("go\n\nToday is Monday.");
  }
  expect(journalText()).not.toContain("Monday");
  expect(JSON.stringify(agent.messages)).not.toContain("Monday");
});

test("a hook can block a prompt", async () => {
  const { agent } = hookedAgent(model, [hook("pre_llm_call", always({ decision: "block", reason: "Not today." }))]);
  const result = await agent.runConversation({ userMessage: "go" });
  expect(result).toMatchObject({ stopReason: "error", fault: { message: "A hook blocked this prompt: Not today." } });
  expect(model.requests).toHaveLength(0);
});

test("a hook continues a turn with edits, three times at most", async () => {
  const attempts: unknown[] = [];
  const { agent } = hookedAgent(model, [
    hook("pre_verify", async ({ extra }) => {
      attempts.push(extra["attempt"]);
      return { decision: "block", reason: "Run the tests." };
    }),
  ]);
  model.script(callTools(write("b.txt")), say("one"), say("two"), say("three"), say("four"));
  expect(await agent.chat("go")).toBe("four");
  expect(attempts).toEqual([0, 1, 2]);
  expect(lastRequest()).toContain("[A hook continues this turn: Run the tests.]");
  model.script(say("no edits"));
  expect(await agent.chat("talk")).toBe("no edits");
  expect(attempts).toHaveLength(3);
});

test("a failed hook is named once, and the turn continues", async () => {
  const { agent, notices, cwd } = hookedAgent(model, [
    hook("pre_tool_call", () => Promise.reject(new Error("exit code 127"))),
  ]);
  // One after the other: a scan for the second command may see the first one's file between its creation and its time.
  model.script(callTools(touch("b.txt")), callTools(touch("c.txt")), say("done"));
  await agent.chat("go");
  expect(existsSync(join(cwd, "c.txt"))).toBe(true);
  expect(notices).toEqual(['The hook "guard.sh" failed: exit code 127']);
});

test("a cancel ends a hook that hangs, and the call never runs", async () => {
  const { promise: reached, resolve } = Promise.withResolvers<AbortSignal>();
  const hanging = hook("pre_tool_call", (_, signal) => {
    resolve(signal);
    return new Promise(() => undefined);
  });
  const { agent, cwd } = hookedAgent(model, [hanging]);
  model.script(callTools(touch("b.txt")));
  const turn = agent.runConversation({ userMessage: "go" });
  const signal = await reached;
  agent.turns.interrupt();
  expect(await turn).toMatchObject({ stopReason: "cancelled" });
  expect(signal.aborted).toBe(true);
  expect(existsSync(join(cwd, "b.txt"))).toBe(false);
});

test("a call that the user does not see obeys the hooks, and does not run where one asks", async () => {
  const ran: unknown[] = [];
  const note = defineTool({
    name: "note",
    toolset: "test",
    kind: "other",
    readOnly: false,
    description: "Notes.",
    input: z.object({ text: z.string() }),
    title: () => "Note",
    effect: () => ({ kind: "none" }),
    run: async ({ text }) => {
      ran.push(text);
      return { ok: true, text: "noted" };
    },
  });
  const { agent, cwd } = hookedAgent(model, [
    hook("pre_tool_call", async ({ tool_input: input }) => {
      const { text } = input as { readonly text: string };
      return text === "change" ? { input: { text: "changed" } } : { decision: text === "ask" ? "ask" : "block" };
    }),
    hook("post_tool_call", always({ context: "seen" })),
  ]);
  const context = { cwd, callId: "c1", signal: new AbortController().signal } as ToolContext;
  const unseen = (text: string) => {
    const called = {
      id: "1",
      type: "function",
      function: { name: "note", arguments: JSON.stringify({ text }) },
    } as const;
    return runUnseen(called, [note], context, { hooks: agent.hooks });
  };
  expect([await unseen("block"), await unseen("ask")]).toMatchObject([{ ok: false }, { ok: false }]);
  expect(await unseen("change")).toMatchObject({ ok: true, text: expect.stringContaining("seen") });
  expect(ran).toEqual(["changed"]);
});

test("a turn waits for the hooks at its end, until it is cancelled", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const order: string[] = [];
  const ending = hook("on_session_end", async () => {
    await promise;
    order.push("hook");
    return {};
  });
  const { agent } = hookedAgent(model, [ending]);
  model.script(say("done"), say("again"));
  const turn = agent.chat("go").then(() => order.push("turn"));
  await expect.poll(() => agent.messages.at(-1)).toMatchObject({ content: "done" });
  agent.turns.interrupt();
  await turn;
  resolve();
  await agent.chat("once more");
  order.push("turn");
  expect(order).toEqual(["turn", "hook", "hook", "turn"]);
});

test("a sub-agent with its parent's hooks obeys them", async () => {
  const hooks = [hook("pre_tool_call", always({ decision: "block", reason: "No new files." }))];
  const { agent: child, cwd } = hookedAgent(model, [], { hooks: () => hooks });
  model.script(callTools(touch("b.txt")), say("done"));
  await child.chat("go");
  expect(existsSync(join(cwd, "b.txt"))).toBe(false);
});
