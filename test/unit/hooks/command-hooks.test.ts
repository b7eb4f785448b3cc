// Hooks as real commands, against a usual call, a call of an extension's tool, and a read that starts in the stream.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type CommandHook, homeHook, matcherOf } from "../../../agent-core/hooks/command-hook.ts";
import type { Hook } from "../../../agent-core/hooks/hook.ts";
import { call, callTools, type ModelServer, say, startModelServer } from "../../support/model-server/model-server.ts";
import { hookedAgent } from "./support/hooked-agent.ts";

let model: ModelServer;
beforeEach(async () => {
  model = await startModelServer();
});
afterEach(() => model.stop());

/** `runs`: the calls run. A number of seconds in `timeout` replaces the default. */
type Behaviour = {
  readonly name: string;
  readonly command: string;
  readonly runs: boolean;
  readonly asks?: boolean;
  readonly timeout?: number;
  /** Part of the line about the failure, for hooks that fail. */
  readonly failure?: string;
};

const behaviours: readonly Behaviour[] = [
  { name: "deny", command: `echo '{"decision":"block","reason":"Not here."}'`, runs: false },
  { name: "deny in Claude Code's spelling", command: claude({ permissionDecision: "deny" }), runs: false },
  { name: "ask", command: claude({ permissionDecision: "ask" }), runs: true, asks: true },
  { name: "amend", command: `echo '{"action":"modify","args":{"extra":1}}'`, runs: true },
  { name: "exit code 1", command: "echo boom >&2; exit 1", runs: true, failure: "exit code 1: boom" },
  { name: "exit code 2", command: "echo 'Not here.' >&2; exit 2", runs: false },
  { name: "exit code 127", command: "./no-such-hook", runs: true, failure: "exit code 127" },
  { name: "timeout", command: "sleep 20", timeout: 0.2, runs: true, failure: "no answer within 0.2 s" },
  { name: "1 GB of output", command: "head -c 1000000000 /dev/zero", runs: true, failure: "more than 16384 kB" },
  { name: "invalid JSON", command: "echo '{\"decision\":'", runs: true, failure: "not a JSON object" },
  { name: "kills its parent", command: "kill -9 $PPID; sleep 20", runs: true, failure: "SIGKILL" },
  { name: "writes slowly", command: "printf '{'; sleep 0.1; printf '}'", runs: true },
  { name: "recursion", command: '[ "$HERMES_IN_HOOK" = 1 ] && echo "{}"', runs: true },
];

function claude(output: Readonly<Record<string, unknown>>): string {
  return `echo '${JSON.stringify({ hookSpecificOutput: { hookEventName: "PreToolUse", ...output } })}'`;
}

function guard({ command, timeout = 10 }: Behaviour, cwd: string, failClosed: boolean): Hook {
  const definition: CommandHook = {
    event: "pre_tool_call",
    matcher: undefined,
    command,
    timeoutSeconds: timeout,
    failClosed,
  };
  return homeHook(definition, { cwd, home: join(cwd, ".home"), withheld: [], trusted: () => true });
}

describe.each(behaviours)("a hook: $name", (behaviour) => {
  test.each([false, true])("with fail_closed %s", async (failClosed) => {
    const hooks: Hook[] = [];
    const { agent, cwd, asked, entries, notices } = hookedAgent(model, hooks);
    hooks.push(guard(behaviour, cwd, failClosed));
    const [touch, greet] = [call("terminal", { command: "touch b.txt" }), call("mcp__hello__greet", { who: "you" })];
    model.script(callTools(call("read_file", { path: "a.txt" }), greet, touch), say("done"));
    expect(await agent.chat("go")).toBe("done");
    const { asks = false, failure } = behaviour;
    const runs = behaviour.runs && !(failClosed && failure !== undefined);
    const done = entries().filter(({ type }) => type === "tool");
    expect(done.map(({ name, ok }) => [name, ok])).toEqual(
      expect.arrayContaining([
        ["read_file", runs],
        ["mcp__hello__greet", runs],
        ["terminal", runs],
      ]),
    );
    expect(existsSync(join(cwd, "b.txt"))).toBe(runs);
    expect(existsSync(join(cwd, "greeted.txt"))).toBe(runs);
    expect(JSON.stringify(model.requests.at(-1)?.body.messages).includes("1|one")).toBe(runs);
    expect(entries().filter(({ type }) => type === "hook")).toHaveLength(3);
    expect(asked).toHaveLength(asks ? 3 : 0);
    expect(notices).toEqual(failure === undefined ? [] : [expect.stringContaining(failure)]);
  });
});

test("a command gets the event as JSON, in the session's folder, without keys, and its answer changes the call", async () => {
  const hooks: Hook[] = [];
  const { agent, cwd } = hookedAgent(model, hooks);
  writeFileSync(
    join(cwd, "rewrite.sh"),
    `cat > payload.json; pwd > place; env > environment; echo '{"action":"modify","args":{"command":"touch safe.txt"}}'`,
  );
  process.env["HOOK_TEST_API_KEY"] = "sk-secret";
  hooks.push(guard({ name: "amend", command: "sh rewrite.sh", runs: true }, cwd, false));
  model.script(callTools(call("terminal", { command: "touch b.txt" })), say("done"));
  await agent.chat("go");
  delete process.env["HOOK_TEST_API_KEY"];
  expect(JSON.parse(readFileSync(join(cwd, "payload.json"), "utf8"))).toMatchObject({
    hook_event_name: "pre_tool_call",
    tool_name: "terminal",
    session_id: "s1",
    cwd,
    profile: "default",
    tool_input: { command: "touch b.txt" },
  });
  expect(readFileSync(join(cwd, "place"), "utf8").trim()).toBe(cwd);
  const environment = readFileSync(join(cwd, "environment"), "utf8");
  expect(environment).toContain(`HERMES_HOME=${join(cwd, ".home")}`);
  expect(environment).not.toContain("sk-secret");
  expect([existsSync(join(cwd, "b.txt")), existsSync(join(cwd, "safe.txt"))]).toEqual([false, true]);
});

test("while the workspace is untrusted, a hook of the home runs in the home", async () => {
  const hooks: Hook[] = [];
  const { agent, cwd } = hookedAgent(model, hooks);
  const definition: CommandHook = {
    event: "pre_llm_call",
    matcher: undefined,
    command: "pwd > place",
    timeoutSeconds: 9,
    failClosed: false,
  };
  hooks.push(homeHook(definition, { cwd, home: join(cwd, ".home"), withheld: [], trusted: () => false }));
  model.script(say("done"));
  await agent.chat("go");
  expect(existsSync(join(cwd, "place"))).toBe(false);
  expect(readFileSync(join(cwd, ".home", "place"), "utf8").trim()).toBe(join(cwd, ".home"));
});

test("action approve asks the user, as in the original, and decision approve answers for the user", async () => {
  const hooks: Hook[] = [];
  const { agent, cwd, asked } = hookedAgent(model, hooks, { approvalMode: () => "ask" });
  const write = callTools(call("write_file", { path: "b.txt", content: "x" }));
  hooks.push(guard({ name: "a", command: `echo '{"decision":"approve"}'`, runs: true }, cwd, false));
  model.script(write, say("done"));
  await agent.chat("go");
  expect(asked).toHaveLength(0);
  hooks[0] = guard(
    { name: "a", command: `echo '{"action":"approve","message":"Look at it."}'`, runs: true },
    cwd,
    false,
  );
  model.script(callTools(call("read_file", { path: "b.txt" })), say("done"));
  await agent.chat("go");
  expect(asked).toMatchObject([{ name: "read_file", reasons: ["Look at it."] }]);
});

test("a pattern that backtracks for years selects the tool, and the agent continues", () => {
  const matches = matcherOf("(a+)+");
  expect([matches("aaa"), matches("b"), matches(`${"a".repeat(60)}!`)]).toEqual([true, false, true]);
});
