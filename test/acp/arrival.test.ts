// Someone arrives from other agents: with their home, their workspace and their editor. All of it works, or is named.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Json } from "../support/acp-client.ts";
import { AcpProcess } from "../support/acp-process.ts";
import { call, callTools, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";
import { addSession, CONVERSATION, newState } from "../unit/sessions/import/state-fixture.ts";

const SERVERS = join(import.meta.dirname, "../../node_modules/@modelcontextprotocol");
const node = (name: string, ...args: readonly string[]) => ({
  command: process.execPath,
  args: [join(SERVERS, name, "dist/index.js"), ...args],
});
/** Standard error of a hook, and a refusal. */
const guard = (word: string): string => `grep -q ${word} && { echo 'No ${word} here.' >&2; exit 2; }; exit 0`;
const skill = (name: string, more: string, text: string): string =>
  `---\nname: ${name}\ndescription: Use for ${name}.\n${more}---\n\n${text}\n`;

/** As the original Hermes writes it: with settings that this version has, and others. */
const config = (model: ModelServer, cwd: string): string => `# Hermes Agent
_config_version: 23
model:
  default: test-model
  provider: custom
  base_url: ${model.baseUrl}
  api_key: \${ARRIVED_KEY}
toolsets: [hermes-cli]
agent: {max_turns: 60, reasoning_effort: medium, verbose: false, max_turn: 9}
terminal: {backend: local, timeout: 180, persistent_shell: true}
compression: {enabled: true, threshold: 0.5, protect_last_n: 20}
display: {skin: default, compact: false}
memory: {nudge_interval: 10, memory_char_limit: 2200}
approvals: {mode: manual, timeout: 60}
tts: {provider: edge}
security: {redact_secrets: true}
hooks:
  pre_tool_call:
    - {matcher: terminal, command: "${guard("homeword")}"}
hooks_auto_accept: false
mcp_servers:
  files: ${JSON.stringify({ ...node("server-filesystem", cwd), timeout: 60 })}
`;

async function arrive(): Promise<{ agent: AcpProcess; model: ModelServer; answer(prompt: string): Promise<string> }> {
  const model = await startModelServer();
  const agent = new AcpProcess();
  onTestFinished(async () => {
    await agent.stop();
    await model.stop();
  });
  const { home, cwd } = agent;
  const state = await newState();
  addSession(state, CONVERSATION);
  const hook = (word: string) => ({ type: "command", command: guard(word) });
  const files: Readonly<Record<string, string | Uint8Array>> = {
    [join(home, "config.yaml")]: config(model, cwd),
    [join(home, ".env")]: "ARRIVED_KEY=sk-arrived-12345678\n",
    [join(home, "SOUL.md")]: "You are zq-soul, terse and kind.\n",
    [join(home, "memories/MEMORY.md")]: "zq-memory: the build needs Node 22\n§\nzq-second: tests run with make\n",
    [join(home, "memories/USER.md")]: "zq-user: prefers short answers\n",
    [join(home, "skills/work/release-notes/SKILL.md")]: skill("release-notes", "", "Run zq-notes --since TAG."),
    [join(home, "skills/deploy/SKILL.md")]: skill("deploy", "", "Run zq-deploy."),
    [join(home, "skills/broken/SKILL.md")]: "---\nname: broken\n---\n",
    [join(home, "state.db")]: state.export(),
    [join(cwd, "AGENTS.md")]: "zq-agents: use tabs.\n",
    [join(cwd, ".mcp.json")]: JSON.stringify({ mcpServers: { everything: node("server-everything", "stdio") } }),
    [join(cwd, ".claude/settings.json")]: JSON.stringify({
      hooks: { PreToolUse: [{ matcher: "Bash", hooks: [hook("claudeword")] }] },
    }),
    [join(cwd, ".claude/commands/status.md")]: "Say how the project is.\n",
    [join(cwd, ".claude/commands/tidy.md")]: "---\ndescription: Tidy a file\n---\nzq-tidy: tidy $ARGUMENTS.\n",
    [join(cwd, ".github/hooks/guard.json")]: JSON.stringify({
      version: 1,
      hooks: { preToolUse: [hook("githubword")] },
    }),
  };
  state.close();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
  agent.on("session/request_permission", () => ({ outcome: { outcome: "selected", optionId: "once" } }));
  await agent.initialize();
  const id = await agent.newSession();
  const answer = async (prompt: string): Promise<string> => {
    const before = agent.text().length;
    await agent.prompt(id, prompt);
    return agent.text().slice(before);
  };
  return { agent, model, answer };
}

test("servers, settings, instructions, memory, skills, commands, hooks and sessions of other agents work, or are named", async () => {
  const { agent, model, answer } = await arrive();
  model.respondWith(() => say("done"));
  /** Text of the messages of the last request. */
  const sent = (): string => JSON.stringify(model.requests.at(-1)?.body.messages);

  // The user hears at once which settings have no effect, and which programs of the workspace wait for consent.
  expect(await answer("/mcp list --wait")).toMatch(
    /\*\*files\*\* \(config\.yaml\): on, 14 tools\n- \*\*everything\*\* \(\.mcp\.json\): waiting for your consent/,
  );
  const lines = (): unknown[] => agent.of("agent_thought_chunk").map(({ content }) => (content as Json)["text"]);
  await expect.poll(lines).toHaveLength(3);
  expect(new Set(lines())).toEqual(
    new Set([
      "3 hooks need your consent before they run. /hooks shows the commands.\n",
      "The MCP server of this workspace waits for your consent: everything. " +
        "`/mcp` shows the command, `/mcp allow NAME` starts it.\n",
      "config.yaml: unknown settings without effect: agent.verbose, agent.max_turn (did you mean max_turns?), " +
        "terminal.persistent_shell, display.skin, display.compact, approvals.timeout, tts, security.\n",
    ]),
  );
  expect(await answer("/mcp allow everything")).toBe("everything: on, 16 tools.");
  expect(await answer("/hooks allow all")).toMatch(
    /Allowed: .*homeword.*Allowed: .*claudeword.*Allowed: .*githubword/s,
  );
  expect(await answer("/skills")).toMatch(
    /\/tidy` Tidy a file \(\.claude\/commands;.*Not loaded:.*skills\/broken\/SKILL.*status\.md`: Hermes has a command \/status of its own/s,
  );
  expect(await answer("/import")).toBe("1 session was imported.");

  // The request has the settings, the identity, both memories and the project's instructions.
  await answer("hello");
  const [first] = model.requests;
  expect(first?.headers.authorization).toBe("Bearer sk-arrived-12345678");
  expect(first?.body["model"]).toBe("test-model");
  expect(first?.body.messages[0]?.["content"]).toMatch(
    /^You are zq-soul, terse and kind\..*zq-memory.*zq-second.*zq-user.*zq-agents/s,
  );
  const tools = (first?.body["tools"] ?? []) as { readonly function: { readonly name: string } }[];
  expect(tools.map((tool) => tool.function.name)).toEqual(
    expect.arrayContaining(["terminal", "mcp__files__read_text_file", "mcp__everything__echo"]),
  );

  // Skills by name, and another agent's command.
  expect(sent()).not.toMatch(/zq-deploy|zq-notes|zq-tidy/);
  await answer("/deploy now");
  expect(sent()).toContain("Run zq-deploy.");
  await answer("/release-notes for v2");
  expect(sent()).toContain("Run zq-notes --since TAG.");
  await answer("/tidy a.txt");
  expect(sent()).toContain("zq-tidy: tidy a.txt.");

  // Tools of both servers, and the guards of all three places.
  model.script(
    callTools(
      call("mcp__files__read_text_file", { path: join(agent.cwd, "a.txt") }),
      call("mcp__everything__echo", { message: "hello" }),
      ...["homeword", "claudeword", "githubword", "fine"].map((word) =>
        call("terminal", { command: `echo ran-${word}` }),
      ),
    ),
  );
  await answer("work");
  const results = (model.requests.at(-1)?.body.messages ?? []).filter(({ role }) => role === "tool");
  expect(results.map(({ content }) => content)).toEqual([
    expect.stringContaining("one\ntwo\nthree"),
    expect.stringContaining("Echo: hello"),
    expect.stringContaining("No homeword here."),
    expect.stringContaining("No claudeword here."),
    expect.stringContaining("No githubword here."),
    expect.stringContaining("ran-fine"),
  ]);
  expect(agent.strayLines).toEqual([]);
});
