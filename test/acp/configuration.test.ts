// Settings and fields that the agent knows, but does not serve: the user reads a warning.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import { AcpProcess } from "../support/acp-process.ts";
import { say, startModelServer } from "../support/model-server/model-server.ts";

async function opened(yaml: string): Promise<{ agent: AcpAgent; id: string; notices: () => unknown[] }> {
  const agent = new AcpAgent();
  onTestFinished(() => agent.stop());
  writeFileSync(join(agent.home, "config.yaml"), yaml);
  await agent.initialize({ session: { notices: {} } });
  const id = await agent.newSession();
  return { agent, id, notices: () => agent.of("notice").map(({ severity, title }) => `${severity}: ${title}`) };
}

test("a session begins with one line for unknown settings, and one for each value that has no effect", async () => {
  const { notices } = await opened(
    "display: {skin: mono}\nmoa: {}\nagent: {max_turn: 3}\nterminal: {backend: modal}\n" +
      "fallback_providers: [{provider: nowhere, model: m}, {provider: openai, model: m}]\n",
  );
  await expect
    .poll(notices)
    .toEqual([
      "warning: config.yaml: unknown settings without effect: display.skin, moa, agent.max_turn (did you mean max_turns?).",
      expect.stringMatching(/^warning: config\.yaml: The terminal backend modal is not built in: a plugin can/),
      expect.stringMatching(/^warning: config\.yaml: fallback_providers: There is no provider "nowhere"\./),
    ]);
});

test("a misspelt security setting is an error, and no command runs until it is corrected", async () => {
  const { agent, id, notices } = await opened("terminal: {sandbx: on}\n");
  await expect
    .poll(notices)
    .toEqual([
      "error: config.yaml: terminal.sandbx is not a setting. Did you mean terminal.sandbox? No command runs until this is corrected.",
    ]);
  agent.on("session/request_permission", () => ({ outcome: { outcome: "selected", optionId: "allow_once" } }));
  await agent.prompt(id, "run echo made > made.txt");
  expect(JSON.stringify(agent.of("tool_call_update"))).toContain("No command runs until");
});

test("a sampling option that the model does not accept is reported, and the others are sent", async () => {
  const model = await startModelServer();
  onTestFinished(() => model.stop());
  model.script(say("hello"));
  const agent = new AcpAgent({
    HERMES_BASE_URL: model.baseUrl,
    HERMES_MODEL: "gpt-4.1",
    HERMES_API_MODE: "codex_responses",
  });
  onTestFinished(() => agent.stop());
  writeFileSync(
    join(agent.home, "config.yaml"),
    "model: {temperature: 0.3, top_p: 0.8, max_tokens: 900, stop: [END], context_length: 32768}\n",
  );
  await agent.initialize({ session: { notices: {} } });
  const id = await agent.newSession();
  await agent.prompt(id, "hi");
  expect(model.requests[0]?.body).toMatchObject({ temperature: 0.3, top_p: 0.8, max_output_tokens: 900 });
  expect(model.requests[0]?.body).not.toHaveProperty("stop");
  expect(agent.of("notice").map(({ title }) => title)).toEqual(["config.yaml: gpt-4.1 does not accept model.stop."]);
  // An endpoint that lists no window is common behind a proxy.
  await agent.prompt(id, "/usage");
  expect(agent.text()).toContain("Context window: 32,768 tokens.");
});

test("an attachment that the model does not get is reported", async () => {
  const { agent, id, notices } = await opened("");
  const audio = { type: "audio", mimeType: "audio/wav", data: "AAAA" };
  await agent.request("session/prompt", { sessionId: id, prompt: [{ type: "text", text: "list" }, audio] });
  expect(notices()).toEqual(["warning: An audio attachment was left out: Hermes does not support audio."]);
});

test("an unknown toolset refuses the session, and the agent answers until it is corrected", async () => {
  const agent = new AcpProcess();
  onTestFinished(() => agent.stop());
  await agent.initialize();
  writeFileSync(join(agent.home, "config.yaml"), "toolsets: [fiel]\n");
  const opened = await agent.request("session/new", { cwd: agent.cwd, mcpServers: [] });
  expect(opened.error?.message).toContain('There is no toolset "fiel".');
  writeFileSync(join(agent.home, "config.yaml"), "toolsets: [file]\n");
  expect(await agent.newSession()).toMatch(/^\d/);
});

test("platform_toolsets.cli is for the command line", async () => {
  const model = await startModelServer();
  onTestFinished(() => model.stop());
  model.script(say("hello"));
  const agent = new AcpAgent({ HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "m" });
  onTestFinished(() => agent.stop());
  writeFileSync(join(agent.home, "config.yaml"), "platform_toolsets: {cli: [todo], acp: [file]}\n");
  const clientInfo = { name: "hermes-cli", version: "1" };
  await agent.request("initialize", { protocolVersion: 1, clientCapabilities: {}, clientInfo });
  await agent.prompt(await agent.newSession(), "hi");
  expect(model.requests[0]?.body["tools"]).toMatchObject([{ function: { name: "todo" } }]);
});

test("a prompt that follows at once comes after the session's warnings", async () => {
  const { agent, id } = await opened("agent: {max_turn: 3}\n");
  await agent.prompt(id, "/mode");
  const kinds = agent.updates.map(({ sessionUpdate }) => sessionUpdate);
  expect(kinds).toContain("notice");
  expect(kinds.indexOf("notice")).toBeLessThan(kinds.indexOf("agent_message_chunk"));
});

test("the prompt names the editor's open files, and stays the same for the session; coding_context: off leaves it out", async () => {
  const model = await startModelServer();
  onTestFinished(() => model.stop());
  model.script(say("one"), say("two"), say("three"));
  const agent = new AcpAgent({ HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "m" });
  onTestFinished(() => agent.stop());
  let open = [join(agent.cwd, "a.txt")];
  agent.on("_hermes/editor/files", () => ({ active: open[0], open }));
  await agent.initialize({ _meta: { hermes: { openFiles: true } } });
  const id = await agent.newSession();
  await agent.prompt(id, "hi");
  open = [];
  await agent.prompt(id, "more");
  const systems = () => model.requests.map(({ body }) => String(body.messages[0]?.["content"]));
  expect(systems()[0]).toMatch(/\nTop level: a\.txt\nShell: \S+\nOpen in the editor: a\.txt \(active\)$/);
  expect(systems()[1]).toBe(systems()[0]);
  writeFileSync(join(agent.home, "config.yaml"), "agent: {coding_context: off}\n");
  await agent.prompt(await agent.newSession(), "hi");
  expect(systems()[2]).not.toContain("Top level");
});
