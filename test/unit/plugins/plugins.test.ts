import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ContextEngine } from "../../../agent-core/context/context-engine.ts";
import { defaultEngine } from "../../../agent-core/context/context-engine.ts";
import type { HookPayload } from "../../../agent-core/hooks/hook.ts";
import { pluginEngine } from "../../../agent-core/plugins/plugin-engine.ts";
import type { ToolActivity } from "../../../agent-core/tools/tool.ts";
import {
  home,
  inNewHome,
  install,
  never,
  plugin,
  QUICK,
  run,
  shown,
  started,
  tool,
} from "./support/session-plugins.ts";

inNewHome();

test("a tool of a plugin gets checked arguments, its session and its settings, and shows its progress", async () => {
  install(
    "greeter",
    plugin(`ctx.registerTool({
      name: "greet",
      description: "Greets someone",
      parameters: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
      readOnly: true,
      async run({ name }, { cwd, sessionId, show }) {
        show("thinking");
        return { greeting: ctx.config.word + " " + name, cwd, sessionId };
      },
    });`),
  );
  const plugins = await started({ enabled: ["greeter"], entries: { greeter: { word: "Hello" } } });
  const progress: ToolActivity[] = [];
  const { ok, text } = await run(plugins, "greet", { name: "Ada" }, { show: (activity) => progress.push(activity) });
  expect([ok, JSON.parse(text)]).toEqual([true, { greeting: "Hello Ada", cwd: home, sessionId: "session-1" }]);
  expect(progress).toEqual([{ type: "output", text: "thinking" }]);
  // Input that a hook changed comes as the hook wrote it, too.
  const written = await run(plugins, "greet", { name: 5 });
  expect(JSON.parse(written.text)).toMatchObject({ greeting: "Hello 5" });
  expect(await run(plugins, "greet", {})).toMatchObject({
    ok: false,
    text: expect.stringContaining("must have required property 'name'"),
  });
  expect(plugins.tools()[0]).toMatchObject({ toolset: "plugin-greeter", readOnly: true });
});

test("only plugins in plugins.enabled run, and a process gets none of our keys", async () => {
  process.env["SECRET_OF_OURS"] = "key";
  process.env["SOME_API_KEY"] = "key";
  install("spy", plugin(tool("spy", "return Object.keys(process.env).join(' ')")));
  install("idle", plugin(tool("idle", "return 1")));
  const plugins = await started({ enabled: ["spy"] });
  expect(plugins.tools().map(({ name }) => name)).toEqual(["spy"]);
  const { text } = await run(plugins, "spy", {});
  expect(text).toContain("PATH");
  expect(text).not.toMatch(/SECRET_OF_OURS|SOME_API_KEY/);
  expect(plugins.items().map(({ name, state }) => [name, state])).toEqual([
    ["idle", "off"],
    ["spy", "on"],
  ]);
});

test("a plugin may use its thread's port for itself", async () => {
  const post = `(await import("node:worker_threads")).parentPort.postMessage({ type: "result", id: 1, json: "{" });`;
  install("own", plugin(tool("own", `${post} return 1`)));
  expect(await run(await started({ enabled: ["own"] }), "own", {})).toEqual({ ok: true, text: "1" });
});

test("a cancelled call ends at once, and a plugin that ignores the cancel stays on", async () => {
  install(
    "slow",
    plugin(
      tool("slow", "await new Promise((resolve) => setTimeout(resolve, 100)); return 1") +
        tool("stuck", "while (true) {}"),
    ),
  );
  const plugins = await started({ enabled: ["slow"], timeouts: { ...QUICK, tool: 60_000 } });
  const stopped = (name: string) => run(plugins, name, {}, { signal: AbortSignal.timeout(20) });
  await expect(stopped("slow")).rejects.toThrow("aborted due to timeout");
  expect(await run(plugins, "slow", {})).toEqual({ ok: true, text: "1" });
  await expect(stopped("stuck")).rejects.toThrow("aborted due to timeout");
  await expect.poll(() => shown).toEqual([expect.stringContaining("did not react to its cancel")]);
});

test("sessions share a plugin's process until the last one ends, and a restart takes the changed code", async () => {
  const counter = (text: string) => `let calls = 0; ${plugin(tool("count", `return "${text} " + (calls += 1)`))}`;
  install("counter", counter("old"));
  const [first, second] = [await started({ enabled: ["counter"] }), await started({ enabled: ["counter"] })];
  expect([await run(first, "count", {}), await run(second, "count", {})].map(({ text }) => text)).toEqual([
    "old 1",
    "old 2",
  ]);
  await first.dispose();
  expect((await run(second, "count", {})).text).toBe("old 3");
  install("counter", counter("new"));
  expect(await second.act("plugin:counter", "restart")).toBe("The plugin counter is on.");
  expect((await run(second, "count", {})).text).toBe("new 1");
});

test("a plugin's hook blocks, changes and explains a call, for the tools that it names", async () => {
  install(
    "guard",
    plugin(`ctx.registerHook("pre_tool_call", { matcher: "write_.*", failClosed: true }, ({ tool_input }) =>
      tool_input.path === "secret" ? { decision: "block", reason: "secret" } : { args: { path: "safe" }, context: "moved" });
      ctx.registerHook("post_llm_call", () => new Promise(() => {}));`),
  );
  const plugins = await started({ enabled: ["guard"], timeouts: QUICK });
  const [before, after] = plugins.hooks();
  expect(before).toMatchObject({ event: "pre_tool_call", origin: "plugin", failClosed: true, label: "plugin guard" });
  expect([before?.matcher?.("write_file"), before?.matcher?.("overwrite_file")]).toEqual([true, false]);
  const payload = (path: string) =>
    ({ hook_event_name: "pre_tool_call", tool_input: { path } }) as unknown as HookPayload; // all that the plugin reads
  expect(await before?.run(payload("secret"), never)).toEqual({ decision: "block", reason: "secret" });
  expect(await before?.run(payload("a"), never)).toEqual({ input: { path: "safe" }, context: "moved" });
  await expect(after?.run(payload("a"), never)).rejects.toThrow("its hook post_llm_call did not answer within 0.3 s");
  expect(plugins.hooks()).toEqual([]);
});

test("an agent that a plugin starts runs no hooks of plugins, so that no hook starts itself again", async () => {
  const hook = `ctx.registerHook("pre_llm_call", () => {});`;
  install("nested", plugin(`${hook} ${tool("variable", "return process.env.HERMES_IN_HOOK")}`));
  const outer = await started({ enabled: ["nested"] });
  const { text } = await run(outer, "variable", {});
  const inner = await started({ enabled: ["nested"], environment: { HERMES_IN_HOOK: text } });
  expect([outer.hooks().length, inner.hooks().length, inner.tools().length]).toEqual([1, 0, 1]);
});

test("a plugin's command answers or asks the model; an error is its answer", async () => {
  install(
    "words",
    plugin(`ctx.registerCommand({ name: "shout", description: "Shouts", hint: "text", run: (text) => text.toUpperCase() });
      ctx.registerCommand({ name: "ask", description: "Asks", run: (text) => ({ ask: "Explain " + text }) });
      ctx.registerCommand({ name: "fail", description: "Fails", run() { throw new Error("not today"); } });`),
  );
  const plugins = await started({ enabled: ["words"] });
  const answer = (name: string, argument: string) =>
    plugins
      .commands()
      .find((one) => one.name === name)
      ?.run(argument, never);
  expect(await answer("shout", "hey")).toBe("HEY");
  expect(await answer("ask", "this")).toEqual({ ask: "Explain this" });
  expect(await answer("fail", "")).toBe("not today");
});

const MESSAGES = ["first", "second", "third", "last"].map((content, position) => ({
  position,
  role: "user" as const,
  shownAs: "prompt" as const,
  isCutOff: false,
  message: { role: "user" as const, content },
}));
const ROOM = { transcript: MESSAGES, compression: undefined, target: 10, enough: 10 };

async function engineOf(code: string): Promise<ContextEngine | undefined> {
  install("keeper", plugin(`ctx.registerContextEngine("short", ${code});`));
  const plugins = await started({ enabled: ["keeper"], engineName: "short" });
  return plugins.contextEngine(defaultEngine());
}

test("a plugin's context engine decides when to compress and what to drop, but never drops the last request", async () => {
  const engine = await engineOf(`{
    shouldCompress: ({ used }) => used > 100,
    plan: ({ messages, focus }) =>
      ({ drop: messages.map(({ position }) => position), summary: (focus ?? "All of it") + ": " + messages[0].message.content }),
  }`);
  const state = { used: 50, window: 1_000, isNewTurn: true };
  expect([
    await engine?.shouldCompress(state, never),
    await engine?.shouldCompress({ ...state, used: 101 }, never),
  ]).toEqual([false, true]);
  expect(await engine?.plan(ROOM, never)).toMatchObject({
    dropped: [[0, 2]],
    shortened: [],
    summary: "All of it: first",
  });
  expect(await engine?.plan({ ...ROOM, focus: "The tests" }, never)).toMatchObject({ summary: "The tests: first" });
  expect(shown).toEqual([]);
});

test.each([
  ["throws", () => Promise.reject(new Error("out of ideas")), "out of ideas"],
  [
    "is too slow",
    (_: unknown, signal: AbortSignal) => once(signal, "abort").then(() => signal.throwIfAborted()),
    "no answer within 0.02 s",
  ],
  ["answers nonsense", () => Promise.resolve({ drop: "all" }), "its plan is not { drop, replace, summary }"],
  ["names an unknown message", () => Promise.resolve({ drop: [99] }), "its plan names the position 99"],
])("the built-in engine replaces one that %s, with one line", async (_, plan, reason) => {
  const warnings: string[] = [];
  const ports = { find: () => ({ plan, shouldCompress: undefined }), warn: (line: string) => warnings.push(line) };
  const engine = pluginEngine("short", defaultEngine(), { ...ports, timeoutMs: 20 });
  for (const _attempt of [1, 2])
    expect(await engine.plan(ROOM, never)).toEqual(await defaultEngine().plan(ROOM, never));
  expect(warnings).toEqual([expect.stringContaining(`The context engine short failed: ${reason}`)]);
});

test("an unknown engine and an unknown plugin are named, with the nearest name", async () => {
  install("keeper", plugin(`ctx.registerContextEngine("short", { plan: () => null });`));
  await started({ enabled: ["keper"], engineName: "shrt" });
  await started({ enabled: ["keeper"], engineName: "shrt" });
  expect(shown).toEqual([
    'config.yaml: There is no plugin "keper". Did you mean keeper?',
    expect.stringContaining('no running plugin has an engine "shrt"'),
    expect.stringMatching(/Did you mean short\?$/),
  ]);
});

test("without plugins nothing is read or started, and /plugins finds one that was added later", async () => {
  const plugins = await started({});
  expect([plugins.ready, plugins.tools(), plugins.hooks(), plugins.items()]).toEqual([undefined, [], [], []]);
  const command = (argument: string) => plugins.commands()[0]?.run(argument, never);
  expect(await command("")).toMatch(/^There are no plugins\. A plugin adds tools/);
  expect(await command("")).toContain(`Add one as a folder in ${join(home, "plugins")}.`);
  install("late", plugin(tool("late", "return 1")));
  expect(await command("")).toContain("- `late` (off): 1.0 · A test\n");
});

test("/plugins lists plugins and switches one on and off, in the session and in config.yaml", async () => {
  writeFileSync(join(home, "config.yaml"), "# mine\nplugins:\n  enabled: [other] # keep\n");
  install("greeter", plugin(tool("greet", "return 'hi'")));
  const plugins = await started({});
  const command = (argument: string) => plugins.commands()[0]?.run(argument, never);
  expect(await command("")).toBe("- `greeter` (off): 1.0 · A test\n\nType `/plugins enable|disable|restart NAME`.");
  expect(await command("enable greeter")).toBe("The plugin greeter is on.");
  expect(await run(plugins, "greet", {})).toEqual({ ok: true, text: "hi" });
  expect(readFileSync(join(home, "config.yaml"), "utf8")).toBe(
    "# mine\nplugins:\n  enabled: [ other, greeter ] # keep\n",
  );
  expect(await command("")).toContain("- `greeter` (on): 1.0 · A test · 1 tool\n");
  expect(await command("disable greeter")).toBe("The plugin greeter is off.");
  expect(plugins.tools()).toEqual([]);
  expect(readFileSync(join(home, "config.yaml"), "utf8")).toBe("# mine\nplugins:\n  enabled: [ other ] # keep\n");
  expect(await command("enable greter")).toBe('There is no plugin "greter". Did you mean greeter?');
});

test("a tool or command with the name of another one is left out, and skill folders are absolute", async () => {
  const commands = ["undo", "skills", "own", "own"].map(
    (name) => `ctx.registerCommand({ name: "${name}", description: "-", run() {} });`,
  );
  install(
    "copy",
    plugin(
      `${tool("read_file", "return 1")}${tool("other", "return 1")}${commands.join("")} ctx.registerSkillsDir("skills");`,
    ),
  );
  const plugins = await started({ enabled: ["copy"] });
  expect(plugins.tools().map(({ name }) => name)).toEqual(["other"]);
  expect(plugins.commands().map(({ name }) => name)).toEqual(["plugins", "own"]);
  const leftOut = (part: string, noun: string) =>
    `The plugin copy has a ${noun} ${part}, which is left out: another ${noun} has this name.`;
  expect(shown).toEqual([
    leftOut("read_file", "tool"),
    ...["/undo", "/skills", "/own"].map((command) => leftOut(command, "command")),
  ]);
  expect(plugins.skillFolders()).toEqual([join(home, "plugins", "copy", "skills")]);
});
