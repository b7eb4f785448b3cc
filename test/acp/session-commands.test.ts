import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { Json } from "../support/acp-client.ts";
import { AcpProcess } from "../support/acp-process.ts";
import { call, say, startModelServer } from "../support/model-server/model-server.ts";

const running: { stop(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
});

async function start(environment: Record<string, string> = {}, home?: string): Promise<AcpAgent> {
  const agent = new AcpAgent(environment, home);
  running.push(agent);
  await agent.initialize();
  return agent;
}

/** The agent's answer to this prompt. */
async function answer(agent: AcpAgent, sessionId: string, prompt: string): Promise<string> {
  const before = agent.text().length;
  await agent.prompt(sessionId, prompt);
  return agent.text().slice(before);
}

const userMessages = (agent: AcpAgent): unknown[] =>
  agent.of("user_message_chunk").map(({ content }) => (content as Json)["text"]);

test("/tools lists the tools of a server once it has started", async () => {
  const agent = await start();
  const server = join(import.meta.dirname, "../support/mcp-fixture.mjs");
  writeFileSync(join(agent.home, "config.yaml"), `mcp_servers: {fix: {command: node, args: [${server}, --mute]}}\n`);
  const id = await agent.newSession();
  await expect.poll(() => answer(agent, id, "/tools")).toContain("- `mcp__fix__echo`");
});

test("without any extension /mcp, /hooks and /plugins exist, and say where to add one", async () => {
  const agent = await start();
  const id = await agent.newSession();
  const help = await answer(agent, id, "/help");
  const offered = () => JSON.stringify(agent.of("available_commands_update").at(-1));
  for (const name of ["mcp", "hooks", "plugins"]) {
    expect(await answer(agent, id, `/${name}`)).toMatch(/^There are no [\w ]+\. An? .+\n\nAdd /);
    expect(help).toContain(`- \`/${name} `);
    await expect.poll(offered).toContain(`"name":"${name}"`);
  }
});

test("/title shows and sets the title, and tells the client", async () => {
  const agent = await start();
  const id = await agent.newSession();
  expect(await answer(agent, id, "/title")).toBe("This session has no title yet.");
  expect(await answer(agent, id, "/title  The   two lines")).toBe("Title: The two lines");
  expect(agent.of("session_info_update").at(-1)).toMatchObject({ title: "The two lines" });
});

test("/carry-out leaves plan mode and asks for the plan, with approvals on request", async () => {
  const model = await startModelServer();
  running.push(model);
  const agent = await start({ HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "m" });
  const id = await agent.newSession();
  expect(await answer(agent, id, "/carry-out")).toContain("Type `/mode plan` first");
  for (const [argument, mode] of [
    ["", "code"],
    [" ask", "ask"],
  ] as const) {
    await agent.prompt(id, "/mode plan");
    expect(await answer(agent, id, "/carry-out now")).toContain("Type `/carry-out`");
    model.script(say("carried out"));
    expect(await answer(agent, id, `/carry-out${argument}`)).toBe("carried out");
    expect(agent.of("current_mode_update").at(-1)).toMatchObject({ currentModeId: mode });
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain("Carry out this plan.");
  }
});

test("/carry-out takes a changed plan after its mode", async () => {
  const model = await startModelServer();
  running.push(model);
  const agent = await start({ HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "m" });
  const id = await agent.newSession();
  await agent.prompt(id, "/mode plan");
  model.script(say("carried out"));
  await agent.prompt(id, "/carry-out code\n1. Only the parser");
  expect(JSON.stringify(model.requests.at(-1)?.body)).toContain("I have changed it:\\n\\n1. Only the parser");
});

test("/retry removes the last answer and asks again", async () => {
  const model = await startModelServer();
  model.script(say("first"), say("second"));
  const agent = await start({ HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "m", HERMES_API_KEY: "sk-12345678" });
  running.push(model);
  const id = await agent.newSession();
  expect(await answer(agent, id, "/retry")).toContain("this session has no messages yet");
  await agent.prompt(id, "hello");
  expect(await answer(agent, id, "/retry")).toBe("second");
  const asked = model.requests.filter(({ body }) => !JSON.stringify(body).includes("title"));
  expect(asked.map(({ body }) => body.messages.slice(1).map(({ content }) => content))).toEqual([["hello"], ["hello"]]);
  expect(userMessages(agent)).toEqual(["hello"]);
});

test("/undo after /retry also undoes the edits of the answers that were discarded, also after a restart", async () => {
  const model = await startModelServer();
  running.push(model);
  const environment = { HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "m", HERMES_API_KEY: "sk-12345678" };
  const written = (path: string) => call("write_file", { path, content: "x\n" });
  model.script(
    { parts: [written("one.txt")] },
    say("first"),
    { parts: [written("two.txt")] },
    say("second"),
    say("third"),
  );
  const agent = await start(environment);
  agent.on("session/request_permission", () => ({ outcome: { outcome: "selected", optionId: "once" } }));
  const id = await agent.newSession();
  await agent.prompt(id, "write it");
  await agent.prompt(id, "/retry");
  await agent.prompt(id, "/retry");
  const files = () => ["one.txt", "two.txt"].filter((name) => existsSync(join(agent.cwd, name)));
  expect(files()).toEqual(["one.txt", "two.txt"]);
  await agent.request("session/close", { sessionId: id });
  await agent.request("session/load", { sessionId: id, cwd: agent.cwd, mcpServers: [] });
  expect(await answer(agent, id, "/undo")).toContain("`two.txt` removed");
  expect(files()).toEqual([]);
});

test("a command that takes no words does nothing with them, and an unknown command alone does not reach the model", async () => {
  const agent = await start();
  const id = await agent.newSession();
  await agent.prompt(id, "read a.txt");
  expect(await answer(agent, id, "/undo 2")).toBe("Nothing was done: `/undo` takes no words after it.");
  expect(await answer(agent, id, "/clear")).toBe("There is no command `/clear`. `/help` lists the commands.");
  expect(await answer(agent, id, "/staus")).toBe("There is no command `/staus`. Did you mean `/status`?");
  expect(await answer(agent, id, "/etc/hosts is wrong")).toContain("I do not understand");
  expect(await answer(agent, id, "/undo")).toContain("Undid “/etc/hosts is wrong”");
});

test("/new lets the model forget, and the journal keep", async () => {
  const agent = await start();
  const id = await agent.newSession();
  await agent.prompt(id, "read a.txt");
  expect(await answer(agent, id, "/new")).toContain("A new conversation starts here");
  await agent.prompt(id, "list files");
  await agent.request("session/load", { sessionId: id, cwd: agent.cwd, mcpServers: [] });
  expect(userMessages(agent)).toEqual(["list files"]);
  const journal = readFileSync(join(agent.home, "vscode", "sessions", `${id}.jsonl`), "utf8");
  expect(journal).toContain("read a.txt");
});

test("/resume lists the sessions, and continues one of them", async () => {
  const agent = await start();
  const first = await agent.newSession();
  await agent.prompt(first, "read a.txt");
  await agent.request("_hermes/session/rename", { sessionId: first, title: "About the letters" });
  const second = await agent.newSession();
  expect(await answer(agent, second, "/resume nothing like it")).toBe("No session matches “nothing like it”.");
  expect(await answer(agent, second, "/resume")).toContain(`About the letters`);
  expect(await answer(agent, second, "/resume letters")).toContain("Continuing from “About the letters”");
  expect(userMessages(agent)).toEqual(["read a.txt"]);
  await agent.request("session/load", { sessionId: second, cwd: agent.cwd, mcpServers: [] });
  expect(userMessages(agent)).toEqual(["read a.txt", "read a.txt"]);
});

test("/export writes a file beside the work, in the form that is asked for, and never over another", async () => {
  const agent = await start();
  const id = await agent.newSession();
  expect(await answer(agent, id, "/export")).toContain("Nothing to export");
  await agent.prompt(id, "read a.txt then run echo sk-abcdef1234567890");
  await agent.prompt(id, "/title A & B");
  expect(await answer(agent, id, "/export")).toBe("Wrote a-b.md.");
  const markdown = readFileSync(join(agent.cwd, "a-b.md"), "utf8");
  expect(markdown).toContain("# A & B");
  expect(markdown).toContain("## You\n\nread a.txt");
  expect(markdown.split("## Hermes")).toEqual([expect.not.stringContaining("<details>"), expect.any(String)]);
  expect(markdown).toContain("<details><summary>Read a.txt</summary>");
  expect(markdown).not.toContain("sk-abcdef1234567890");
  expect(await answer(agent, id, "/export")).toContain("already exists");
  expect(await answer(agent, id, "/export json out/talk.json")).toBe("Wrote out/talk.json.");
  const exported = JSON.parse(readFileSync(join(agent.cwd, "out", "talk.json"), "utf8"));
  expect(exported).toMatchObject({ version: 1, id, title: "A & B" });
  expect(exported.messages[0]).toMatchObject({ position: 0, role: "user" });
  await agent.prompt(id, 'set "password=hunter2hunter2" in the file');
  expect(await answer(agent, id, "/export json masked.json")).toBe("Wrote masked.json.");
  expect(await answer(agent, id, "/export md-notes.txt")).toBe("Wrote md-notes.txt.");
  const masked = readFileSync(join(agent.cwd, "masked.json"), "utf8");
  expect(masked).not.toContain("hunter2");
  expect(JSON.parse(masked).messages.at(-2).content).toBe('set "password=[key]" in the file');
});

test("/usage and the usage in updates and lists contain known values only", async () => {
  const model = await startModelServer();
  model.script(say("hello"));
  const known = await start({
    HERMES_BASE_URL: model.baseUrl,
    HERMES_MODEL: "gpt-4o-mini",
    HERMES_API_KEY: "sk-12345678",
  });
  running.push(model);
  const id = await known.newSession();
  await known.prompt(id, "hello");
  const { used, cost } = known.of("usage_update").at(-1) as Json;
  expect(cost).toMatchObject({ currency: "USD" });
  expect(await answer(known, id, "/usage")).toMatch(/\| This session \| \d+ \| \d+ \| \d+ \| \$0\.\d+ \|/);
  const place = { sessionId: id, cwd: known.cwd, mcpServers: [] };
  for (const method of ["session/load", "session/resume"]) {
    await known.request("session/close", { sessionId: id });
    const before = known.of("usage_update").length;
    await known.request(method, place);
    const [usage] = known.of("usage_update").slice(before);
    expect(usage).toMatchObject({ cost, used, size: 128_000 });
  }
  const offline = await start();
  const other = await offline.newSession();
  await offline.prompt(other, "read a.txt");
  expect(offline.of("usage_update").at(-1)?.["cost"]).toBeUndefined();
  expect(await answer(offline, other, "/usage")).toContain("| unknown |");
});

test("stored sessions are found by title and by messages, renamed and exported", async () => {
  const agent = await start();
  const id = await agent.newSession();
  await agent.prompt(id, "search elephant");
  await agent.stop();
  running.length = 0;
  const next = await start({}, agent.home);
  expect((await next.request("_hermes/session/rename", { sessionId: id, title: "Grey animals" })).result).toEqual({});
  const search = async (query: string, cwd?: string): Promise<Json[]> => {
    const { result } = await next.request("_hermes/session/search", { query, ...(cwd !== undefined && { cwd }) });
    return (result?.["hits"] ?? []) as Json[];
  };
  expect(await search("grey")).toMatchObject([{ sessionId: id, title: "Grey animals", snippet: "", marks: [] }]);
  const [hit] = await search("elephant", agent.cwd);
  expect(hit).toMatchObject({ sessionId: id, position: 0, snippet: "search elephant", marks: [[7, 15]] });
  expect(await search("eleph", agent.cwd)).toEqual([hit]); // while it is typed
  expect(await search("elephant", "/elsewhere")).toEqual([]);
  const { result } = await next.request("_hermes/session/export", { sessionId: id, format: "markdown" });
  expect(result).toMatchObject({ fileName: "grey-animals.md", text: expect.stringContaining("# Grey animals") });
  const wrong = await next.request("_hermes/session/export", { sessionId: id, format: "pdf" });
  expect(wrong.error?.code).toBe(-32602);
  expect((await next.request("_hermes/session/rename", { sessionId: "nope", title: "x" })).error).toBeDefined();
  expect(existsSync(join(agent.cwd, "grey-animals.md"))).toBe(false);
});

test("a session that another process writes is not renamed behind its back", async () => {
  const agent = await start();
  const id = await agent.newSession();
  await agent.prompt(id, "read a.txt");
  const other = new AcpProcess({}, agent.home);
  running.push(other);
  await other.initialize();
  const { error } = await other.request("_hermes/session/rename", { sessionId: id, title: "x" });
  expect(error?.message).toContain("another Hermes");
  writeFileSync(join(agent.cwd, "a.txt"), "");
});
