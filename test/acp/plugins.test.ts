import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { AcpClient, Json } from "../support/acp-client.ts";
import { AcpProcess } from "../support/acp-process.ts";
import { call, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";
import { isAlive, untilProcesses } from "../support/processes.ts";

/** Number of seconds that no other test sleeps for. */
const SLEEP = Number(`2${process.pid}`);

const running: { stop(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
});

/** Puts the worked example of the manual into a home. */
function installExample(home: string): void {
  const manual = readFileSync("docs/plugins.md", "utf8");
  for (const [, path = "", text = ""] of manual.matchAll(/^`(plugins\/todos\/[\w.]+)`:\n\n```\w+\n([\s\S]*?)^```$/gm)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
}

async function start(): Promise<{ agent: AcpAgent; model: ModelServer; id: string }> {
  const model = await startModelServer();
  model.lookUps.set("/models", { data: [{ id: "test-model", context_length: 20_000 }] });
  const endpoint = { HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "test-model", HERMES_API_KEY: "sk-12345678" };
  const agent = new AcpAgent(endpoint);
  running.push(agent, model);
  installExample(agent.home);
  const yaml = "plugins:\n  enabled: [todos]\n  entries: { todos: { word: FIXME } }\ncontext: { engine: newest }\n";
  writeFileSync(join(agent.home, "config.yaml"), yaml);
  writeFileSync(join(agent.cwd, "open.ts"), "one\n// FIXME: later\n");
  await agent.initialize();
  const id = await agent.newSession();
  await expect.poll(() => commandsOf(agent)).toContain("todos");
  return { agent, model, id };
}

const commandsOf = (agent: AcpClient): unknown[] => {
  const commands = agent.of("available_commands_update").at(-1)?.["availableCommands"] as Json[] | undefined;
  return commands?.map(({ name }) => name) ?? [];
};

const lastMessage = ({ requests }: ModelServer): string => String(requests.at(-1)?.body.messages.at(-1)?.["content"]);

test("the plugin of the manual adds a tool, a command and a hook", async () => {
  const { agent, model, id } = await start();
  model.script(say("Ready."), { parts: [call("find_todos", { folder: "." })] }, say("One."));
  await agent.prompt(id, "Hello");
  await agent.prompt(id, "What is open?");
  expect(lastMessage(model)).toContain("open.ts:2: // FIXME: later");
  expect(agent.of("tool_call_update").at(-1)).toMatchObject({ status: "completed" });
  const commands = agent.of("available_commands_update").at(-1)?.["availableCommands"] as Json[];
  expect(commands).toContainEqual({
    name: "todos",
    description: "List open tasks in the code",
    input: { hint: "folder" },
  });
  await agent.prompt(id, "/todos");
  expect(agent.text()).toContain("open.ts:2: // FIXME: later");
  model.script({ parts: [call("terminal", { command: "git commit --no-verify" })] }, say("Refused."));
  await agent.prompt(id, "Commit it.");
  expect(lastMessage(model)).toContain("leave out --no-verify");
});

test("an error of a plugin goes to the model like a result: its ends, and the rest in a file", async () => {
  const { agent, model, id } = await start();
  writeFileSync(
    join(agent.home, "plugins", "todos", "index.js"),
    `export const register = (ctx) => ctx.registerTool({ name: "fail", description: "Fails", readOnly: true,
      run() { throw new Error("begin" + "x".repeat(3_000_000) + "end"); } });`,
  );
  model.script({ parts: [call("fail", {})] }, say("Too long."));
  await agent.prompt(id, "/plugins restart todos");
  await agent.prompt(id, "Try it.");
  const error = lastMessage(model);
  expect(error).toMatch(/^Error: fail failed: beginx+\n\n\[… \d+ characters left out\. The whole result.*\nx+end$/s);
  expect(error.length).toBeLessThan(41_000);
});

test("the context engine of a plugin compresses a conversation", async () => {
  const { agent, model, id } = await start();
  model.respondWith(() => ({ ...say("word ".repeat(4_000)), usage: { input: 8_000, output: 5_000 } }));
  await agent.prompt(id, "Hello");
  await agent.prompt(id, "More.");
  expect(JSON.stringify(model.requests.at(-1)?.body.messages)).toContain("older messages are left out.");
});

test("hermes plugins lists, enables and disables plugins, and keeps the comments of config.yaml", async () => {
  const { agent } = await start();
  const yaml = join(agent.home, "config.yaml");
  writeFileSync(yaml, "# mine\nplugins:\n  enabled:\n    - other # keep\n");
  const plugins = (...args: string[]) => {
    const env = { PATH: process.env["PATH"], HOME: agent.home, HERMES_HOME: agent.home };
    const { status, stdout, stderr } = spawnSync("node", ["dist/cli.js", "plugins", ...args], {
      env,
      encoding: "utf8",
    });
    return [status, stdout + stderr];
  };
  expect(plugins("list")).toEqual([0, "off   todos 1.0  Finds open tasks in the code\n"]);
  expect(plugins("enable", "todos")).toEqual([
    0,
    `todos is on in new sessions. It has your rights: ${join(agent.home, "plugins", "todos")}\n`,
  ]);
  expect(readFileSync(yaml, "utf8")).toBe("# mine\nplugins:\n  enabled:\n    - other # keep\n    - todos\n");
  expect(plugins("enable", "todo")).toEqual([2, 'hermes: There is no plugin "todo". Did you mean todos?\n']);
  expect(plugins("disable", "todos")).toEqual([0, "todos is off in new sessions.\n"]);
  expect(plugins("enable")).toEqual([2, expect.stringContaining("hermes: plugins enable needs a name")]);
  writeFileSync(yaml, "plugins: [");
  expect(plugins("list")).toEqual([
    0,
    expect.stringMatching(/^off {3}todos .*\nhermes: .*config\.yaml is not valid YAML/),
  ]);
});

test("no plugin survives an agent that was killed, even in an endless loop, nor what it started", async () => {
  const model = await startModelServer();
  running.push(model);
  model.script({ parts: [call("spin", {})] });
  const agent = new AcpProcess({ HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "m", HERMES_API_KEY: "sk-12345678" });
  const folder = join(agent.home, "plugins", "spinner");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "plugin.yaml"), "name: spinner\n");
  writeFileSync(
    join(folder, "index.js"),
    `import { spawn } from "node:child_process"; import { writeFileSync } from "node:fs";
    export const register = (ctx) => ctx.registerCommand({ name: "spinning", description: "-", run() {} }) ?? ctx.registerTool({ name: "spin", description: "Spins", readOnly: true, run(_, { cwd }) {
      spawn("sleep", ["${SLEEP}"]).once("spawn", () => { writeFileSync(cwd + "/pid", String(process.pid)); while (true); });
      return new Promise(() => {});
    } });`,
  );
  writeFileSync(join(agent.home, "config.yaml"), "plugins: { enabled: [spinner] }\n");
  await agent.initialize();
  const id = await agent.newSession();
  await expect.poll(() => commandsOf(agent)).toContain("spinning");
  void agent.prompt(id, "Spin.");
  await expect.poll(() => existsSync(join(agent.cwd, "pid"))).toBe(true);
  agent.child.kill("SIGKILL");
  await untilProcesses(SLEEP, (count) => count === 0);
  await expect.poll(() => isAlive(Number(readFileSync(join(agent.cwd, "pid"), "utf8")))).toBe(false);
});
