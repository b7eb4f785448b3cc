// Plugins with faults: each costs the plugin or the call, and one line names it.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  home,
  inNewHome,
  install,
  logged,
  never,
  plugin,
  QUICK,
  run,
  shown,
  started,
  tool,
} from "./support/session-plugins.ts";

inNewHome();

test("a loop, an exit, a crash and a huge allocation cost the plugin, not the turn", async () => {
  const ends: Record<string, [body: string, reason: string]> = {
    loop: ["while (true) {}", "its tool loop did not answer within 0.3 s"],
    mute: ["await new Promise(() => {})", "its tool mute did not answer within 0.3 s"],
    exit: ["process.exit(3)", "it ended itself (exit code 3)"],
    late: ["setTimeout(() => { throw new Error('later') }); await new Promise(() => {})", "it crashed (later)"],
    lost: ["Promise.reject(new Error('lost')); await new Promise(() => {})", "it crashed (lost)"],
    huge: ["const list = new Array(2 ** 25).fill(0); return [...list, ...list, ...list].length", "memory"],
  };
  const names = Object.keys(ends);
  for (const [name, [body]] of Object.entries(ends)) install(name, plugin(tool(name, body)));
  install("fine", plugin(tool("fine", "return 1")));
  const slow = await started({ enabled: ["exit", "late", "lost", "huge", "fine"] });
  const quick = await started({ enabled: ["loop", "mute"], timeouts: QUICK });
  const calls = names.map((name) => run(name === "loop" || name === "mute" ? quick : slow, name, {}).catch(String));
  const results = await Promise.all(calls);
  for (const [index, name] of names.entries()) {
    const reason = ends[name]?.[1] ?? "";
    expect(results[index]).toContain(reason);
    expect(shown.filter((line) => line.startsWith(`The plugin ${name} is off for this session: `))).toEqual([
      expect.stringContaining(reason),
    ]);
  }
  expect(quick.items().map(({ name, state }) => [name, state])).toContainEqual(["loop", "failed"]);
  expect(await run(slow, "fine", {})).toEqual({ ok: true, text: "1" });
});

test("a tool that throws keeps its plugin", async () => {
  install("strict", plugin(tool("strict", "throw new Error('no such town')")));
  const plugins = await started({ enabled: ["strict"] });
  await expect(run(plugins, "strict", {})).rejects.toThrow("no such town");
  await expect(run(plugins, "strict", {})).rejects.toThrow("no such town");
  expect([shown, plugins.items()[0]?.state]).toEqual([[], "on"]);
});

test("a plugin whose register fails is off with one line that says why", async () => {
  const wrong: Record<string, [code: string, reason: string]> = {
    throws: [plugin("throw new Error('no network')"), "index.js could not be loaded: no network."],
    torn: ["export default (", "index.js could not be loaded: "],
    silent: ["export const other = 1;", "it exports no function register(ctx)"],
    spaced: [plugin("ctx.registerTool({ name: 'a b' })"), "registerTool: name must be a name of the form"],
    coffee: [
      plugin("ctx.registerHook('pre_coffee', () => {})"),
      "registerHook: the event must be one of pre_tool_call",
    ],
  };
  for (const [name, [code]] of Object.entries(wrong)) install(name, code);
  install("fine", plugin(tool("fine", "return 1")));
  const plugins = await started({ enabled: [...Object.keys(wrong), "fine"] });
  for (const [name, [, reason]] of Object.entries(wrong)) {
    const lines = shown.filter((line) => line.startsWith(`The plugin ${name} is off for this session: `));
    expect(lines).toEqual([expect.stringContaining(reason)]);
  }
  expect(plugins.tools().map(({ name }) => name)).toEqual(["fine"]);
});

test("a schema is an object's, as a model API wants it", async () => {
  const withSchema = (parameters: string) =>
    plugin(
      `const own = { properties: {} }; ctx.registerTool({ name: "t", description: "-", parameters: ${parameters}, run() {} });`,
    );
  install("list", withSchema("{ type: 'array' }"));
  install("circle", withSchema("Object.assign(own, { own })"));
  install("plain", withSchema("{ properties: { at: { default() {} } } }"));
  const plugins = await started({ enabled: ["list", "circle", "plain"] });
  const head = "is off for this session: index.js could not be loaded: registerTool t: parameters";
  expect(shown.toSorted()).toEqual([
    `The plugin circle ${head} cannot be written as JSON: Converting circular structure to JSON.`,
    `The plugin list ${head}: type must be "object", not "array".`,
  ]);
  const [own] = plugins.tools();
  expect(own?.schema.parameters).toEqual({ type: "object", properties: { at: {} } });
  expect(await run(plugins, "t", {})).toEqual({ ok: true, text: "Done." });
});

test("two folders with one name: the first is used, and the list names the other", async () => {
  install("one", plugin(tool("one", "return 1")));
  install("two", plugin(tool("two", "return 2")), "name: one\n");
  const plugins = await started({ enabled: ["one"] });
  expect(await run(plugins, "one", {})).toEqual({ ok: true, text: "1" });
  expect(await plugins.commands()[0]?.run("", never)).toBe(
    `- \`one\` (on): 1.0 · A test · 1 tool\n- \`./two\` (off): ${join(home, "plugins", "one")} has the same name\n\nType \`/plugins enable|disable|restart NAME\`.`,
  );
  expect(shown).toEqual([]);
});

test("a plugin that is switched off while its tool runs ends the call at once", async () => {
  install("busy", plugin(tool("busy", "call.show('begun'); return new Promise(() => {})")));
  const plugins = await started({ enabled: ["busy"] });
  const begun = Promise.withResolvers<void>();
  const call = run(plugins, "busy", {}, { show: () => begun.resolve() }).catch(String);
  await begun.promise;
  expect(await plugins.act("plugin:busy", "disable")).toBe("The plugin busy is off.");
  expect(await call).toBe("Error: The plugin is off: it was switched off.");
  expect([shown, plugins.tools()]).toEqual([[], []]);
});

test("a result and a log are limited", async () => {
  install(
    "loud",
    plugin(
      tool("large", "return 'x'.repeat(5_000_000)") +
        tool("chatty", "for (let i = 0; i < 1e4; i++) console.log('line', i); return 'ok'"),
    ),
  );
  const plugins = await started({ enabled: ["loud"] });
  await expect(run(plugins, "large", {})).rejects.toThrow("the result has 5000002 characters");
  expect(await run(plugins, "chatty", {})).toEqual({ ok: true, text: "ok" });
  expect(logged[0]).toBe("Plugin loud: line 0");
  expect(logged.length).toBeLessThan(300);
});

test("a plugin in Python and a broken manifest are named, and do not run", async () => {
  mkdirSync(join(home, "plugins", "snake"), { recursive: true });
  writeFileSync(join(home, "plugins", "snake", "plugin.yaml"), "name: snake\n");
  writeFileSync(join(home, "plugins", "snake", "__init__.py"), "def register(ctx): pass\n");
  install("torn", plugin(""), "name: [\n");
  const plugins = await started({ enabled: ["snake", "torn"] });
  expect(shown.toSorted()).toEqual([
    "The plugin snake is off for this session: it is written in Python (__init__.py). Only plugins with index.js run here.",
    expect.stringMatching(/^The plugin torn is off for this session: .*plugin\.yaml could not be read: /),
  ]);
  expect(plugins.items().every(({ state }) => state === "failed")).toBe(true);
  expect(await plugins.commands()[0]?.run("enable snake", never)).toMatch(
    /^The plugin snake cannot run: it is written in Python/,
  );
});
