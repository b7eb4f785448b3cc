import { spawnSync } from "node:child_process";
import { existsSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { Json } from "../support/acp-client.ts";
import { call, callTools, say } from "../support/model-server/model-server.ts";
import { lastResult, startWithModel } from "../support/start-agent.ts";

test("a message that has only attachments is listed by their names", async () => {
  const { agent, model } = await startWithModel();
  await agent.initialize();
  const sessionId = await agent.newSession();
  model.script(say("done"));
  const uri = `file://${agent.cwd}/a.txt`;
  const prompt = [
    { type: "resource_link", uri, name: "a.txt" },
    { type: "resource", resource: { uri: `file://${agent.cwd}/b.txt`, text: "b" } },
    { type: "image", mimeType: "image/png", data: "AAAA" },
  ];
  await agent.request("session/prompt", { sessionId, prompt });
  await agent.prompt(sessionId, "/checkpoint");
  expect(agent.text()).toContain("1. “a.txt, b.txt, a picture”: no changes recorded since");
});

test("a cancel that is written together with its prompt ends the turn", async () => {
  const { agent, model } = await startWithModel();
  await agent.initialize();
  const sessionId = await agent.newSession();
  const prompt = [{ type: "text", text: "go" }];
  const cancel = { method: "session/cancel", params: { sessionId } };
  const reply = agent.requestAndNotify("session/prompt", { sessionId, prompt }, cancel);
  expect((await reply).result).toMatchObject({ stopReason: "cancelled" });
  expect(model.requests).toEqual([]);
});

test("a client that shows no names gets one option per kind, and no lasting grant on any of them", async () => {
  const { agent, model } = await startWithModel();
  const asked: Json[] = [];
  agent.on("session/request_permission", (params) => {
    asked.push(params);
    return { outcome: { outcome: "selected", optionId: "session" } };
  });
  await agent.initialize();
  const sessionId = await agent.newSession();
  const remove = callTools(call("terminal", { command: "rm a.txt" }));
  model.script(remove, say("done"), remove, say("done"));
  await agent.prompt(sessionId, "remove it");
  await agent.prompt(sessionId, "remove it again");
  expect(asked).toHaveLength(1);
  expect(asked[0]?.["options"]).toMatchObject([
    { kind: "allow_once" },
    { kind: "allow_always", name: "Allow for This Session" },
    { kind: "reject_once" },
  ]);
  expect(existsSync(join(agent.home, "config.yaml"))).toBe(false);
});

test("a permission request shows the diff first, and a long command once and cut", async () => {
  const { agent, model } = await startWithModel();
  const asked: Json[] = [];
  agent.on("session/request_permission", (params) => {
    asked.push(params);
    return { outcome: { outcome: "selected", optionId: "reject" } };
  });
  await agent.initialize();
  const sessionId = await agent.newSession();
  await agent.request("session/set_mode", { sessionId, modeId: "ask" });
  const command = `rm a.txt; : ${"x".repeat(50_000)}\n\`\`\`\nend`;
  model.script(
    callTools(call("write_file", { path: "a.txt", content: "new\n" }), call("terminal", { command })),
    say("done"),
  );
  await agent.prompt(sessionId, "go");
  expect(asked).toMatchObject([
    { toolCall: { content: [{ type: "diff", newText: "new\n" }, { type: "content" }] } },
    { toolCall: { content: [{ type: "content" }] } },
  ]);
  const line = JSON.stringify(asked[1]);
  expect(line.length).toBeLessThan(6_000);
  expect(line).toContain("````sh\\nrm a.txt");
  expect(line).toContain("end\\n````");
});

test("the first update of a call has its title, kind and locations, every later one its status, and one its diff", async () => {
  const { agent, model } = await startWithModel();
  await agent.initialize();
  model.script(
    callTools(call("read_file", { path: "a.txt" }), call("write_file", { path: "a.txt", content: "new\n" })),
    callTools(call("terminal", { command: "cat a.txt" })),
    say("done"),
  );
  await agent.prompt(await agent.newSession(), "go");
  const path = join(agent.cwd, "a.txt");
  expect(agent.of("tool_call")).toMatchObject([
    { title: "Read a.txt", kind: "read", status: "pending", locations: [{ path }] },
    { title: "Write a.txt", kind: "edit", status: "pending", locations: [{ path }] },
    { title: "cat a.txt", kind: "execute", status: "pending" },
  ]);
  const later = agent.of("tool_call_update");
  expect(later.map(({ status }) => status)).not.toContain(undefined);
  const edit = later.filter(({ toolCallId }) => toolCallId === agent.of("tool_call")[1]?.["toolCallId"]);
  expect(edit.map(({ status, content }) => [status, content !== undefined])).toEqual([
    ["in_progress", true],
    ["completed", false],
  ]);
});

test("a command arrives whole in a client that joins command and arguments with a shell", async () => {
  const { agent, model } = await startWithModel();
  const terminals = new Map<string, { readonly output: string; readonly exitCode: number | null }>();
  const files: string[] = [];
  agent
    .on("terminal/create", ({ command, args, cwd }) => {
      files.push(...(args as string[]));
      const line = [command, ...(args as string[])].join(" ");
      const { stdout, stderr, status } = spawnSync(line, { shell: true, cwd: String(cwd), encoding: "utf8" });
      terminals.set("t", { output: stdout + stderr, exitCode: status });
      return { terminalId: "t" };
    })
    .on("terminal/wait_for_exit", () => ({ exitCode: terminals.get("t")?.exitCode, signal: null }))
    .on("terminal/output", () => ({ output: terminals.get("t")?.output, truncated: false }))
    .on("terminal/release", () => ({}));
  await agent.initialize({ terminal: true });
  const sessionId = await agent.newSession();
  await agent.request("session/set_mode", { sessionId, modeId: "auto" });
  const command = `echo "from-terminal  'x'" && ls a.txt; mkdir sub && echo "$HOME" '$0'; exit 3`;
  model.script(callTools(call("terminal", { command })), say("done"));
  await agent.prompt(sessionId, "go");
  expect(lastResult(model)).toContain(`from-terminal  'x'\na.txt\n${agent.home} $0\n`);
  expect(lastResult(model)).toContain("exit code 3");
  expect(files.filter((file) => existsSync(file))).toEqual([]);
});

test("a failure in the client reaches the model with its reason, which clients send as data", async () => {
  const { agent, model } = await startWithModel();
  const failure = (data: unknown) => () => Promise.reject({ code: -32603, message: "Internal error", data });
  agent.on("fs/write_text_file", failure({ details: "the disk is full" })).on("terminal/create", failure("no shell"));
  await agent.initialize({ fs: { writeTextFile: true }, terminal: true });
  const sessionId = await agent.newSession();
  model.script(callTools(call("write_file", { path: "new.txt", content: "x" })));
  model.script(callTools(call("terminal", { command: "ls" })), say("done"));
  await agent.prompt(sessionId, "go");
  const results = model.requests.at(-1)?.body.messages.filter(({ role }) => role === "tool") ?? [];
  expect(results.map(({ content }) => content)).toEqual([
    expect.stringMatching(/was not written by the editor: Internal error: the disk is full$/),
    expect.stringMatching(/terminal failed: Internal error: no shell$/),
  ]);
});

test("a command over 128 kB runs, on a terminal too", async () => {
  const { agent, model } = await startWithModel();
  agent.on("session/request_permission", () => ({ outcome: { outcome: "selected", optionId: "once" } }));
  await agent.initialize();
  const sessionId = await agent.newSession();
  const command = `cat > big.txt <<'END'\n${"it's \n".repeat(60_000)}END\nwc -c big.txt; export KEPT=yes`;
  model.script(
    callTools(call("terminal", { command })),
    callTools(call("terminal", { command: "echo kept=$KEPT; rm big.txt" })),
    callTools(call("terminal", { command, pty: true })),
    say("done"),
  );
  await agent.prompt(sessionId, "go");
  const results = model.requests.at(-1)?.body.messages.filter(({ role }) => role === "tool") ?? [];
  expect(results.map(({ content }) => String(content).slice(0, 200))).toEqual([
    expect.stringContaining("360000 big.txt"),
    expect.stringContaining("kept=yes"),
    expect.stringContaining("360000 big.txt"),
  ]);
});

/** A session with ten edits of one line each in a file of 300 kB. */
async function editedSession(): Promise<{
  readonly agent: AcpAgent;
  readonly sessionId: string;
  readonly journal: string;
}> {
  const { agent, model } = await startWithModel();
  const lines = Array.from({ length: 10_000 }, (_, index) => `line ${index} of thirty chars..`);
  writeFileSync(join(agent.cwd, "big.txt"), `${lines.join("\n")}\n`);
  await agent.initialize();
  const sessionId = await agent.newSession();
  const patches = Array.from({ length: 10 }, (_, index) =>
    callTools(
      call("patch", { path: "big.txt", old_string: `line ${index + 1}00 of`, new_string: `LINE ${index + 1}00 of` }),
    ),
  );
  model.script(callTools(call("read_file", { path: "big.txt" })), ...patches, say("done"));
  await agent.prompt(sessionId, "edit it");
  return { agent, sessionId, journal: join(agent.home, "vscode", "sessions", `${sessionId}.jsonl`) };
}

/** Diffs of all calls that a load replays. */
async function replayedDiffs(agent: AcpAgent, sessionId: string): Promise<readonly Json[]> {
  agent.updates.length = 0;
  await agent.request("session/load", { sessionId, cwd: agent.cwd, mcpServers: [] });
  return agent.of("tool_call").flatMap(({ content }) => (content as Json[]).filter(({ type }) => type === "diff"));
}

test("an edit of a large file sends its diff once, and the journal names the texts by their hashes", async () => {
  const { agent, sessionId, journal } = await editedSession();
  const diffs = agent.updates.filter((update) => JSON.stringify(update).includes('"type":"diff"'));
  expect(diffs).toHaveLength(10);
  expect(statSync(journal).size).toBeLessThan(60_000);
  const shown = diffs.flatMap(({ content }) => content as Json[]);
  expect(await replayedDiffs(agent, sessionId)).toEqual(shown);

  const place = { cwd: agent.cwd, mcpServers: [] };
  const fork = await agent.request("session/fork", { sessionId, ...place });
  expect(await replayedDiffs(agent, String(fork.result?.["sessionId"]))).toEqual(shown);
  const exported = await agent.request("_hermes/session/export", { sessionId, format: "json" });
  const { entries } = JSON.parse(String(exported.result?.["text"])) as { entries: Json[] };
  const stored = entries.flatMap((entry) => (entry["type"] === "tool" ? (entry["diffs"] as Json[]) : []));
  expect(stored).toEqual(shown.map(({ type: _, ...diff }) => diff));

  rmSync(join(agent.home, "vscode", "checkpoints"), { recursive: true });
  expect(await replayedDiffs(agent, sessionId)).toEqual([]);
  expect(agent.of("tool_call").map(({ title }) => title)).toContain("Edit big.txt");
});

test("folders, prompts and images that cannot be used are refused, and a list names all folders of a session", async () => {
  const { agent, model } = await startWithModel();
  await agent.initialize();
  const refused = async (method: string, params: Json, message: string): Promise<void> => {
    expect((await agent.request(method, params)).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining(message),
    });
  };
  const place = { cwd: agent.cwd, mcpServers: [] };
  const other = (folder: string): Json => ({ ...place, additionalDirectories: [agent.home, folder] });
  await refused("session/new", other("lib"), 'additionalDirectories[1]: "lib" is not an absolute path');
  await refused("session/new", other("/no/such"), 'additionalDirectories[1]: "/no/such" does not exist');
  const sessionId = await agent.newSession();
  const image = { type: "image", mimeType: "image/png", data: "not base64!" };
  await refused("session/prompt", { sessionId, prompt: [] }, "prompt: it has no text and no attachment");
  await refused("session/prompt", { sessionId, prompt: [{ type: "text", text: " \n" }] }, "prompt: it has no text");
  await refused(
    "session/prompt",
    { sessionId, prompt: [image] },
    "prompt: the data of an image (image/png) is not base64",
  );
  await refused(
    "session/prompt",
    { sessionId, prompt: [{ ...image, data: "AAAA", mimeType: "text/html" }] },
    'prompt: an image has the type "text/html" instead of image/…',
  );
  expect(model.requests).toEqual([]);

  model.script(say("done"), say("done"));
  const created = await agent.request("session/new", { ...place, additionalDirectories: [agent.home] });
  await agent.prompt(String(created.result?.["sessionId"]), "go");
  await agent.prompt(sessionId, "go");
  const { result } = await agent.request("session/list", {});
  expect(result?.["sessions"]).toMatchObject([{ additionalDirectories: [] }, { additionalDirectories: [agent.home] }]);
  const loaded = await agent.request("session/load", { sessionId, ...other("/no/such") });
  expect(loaded.error).toBeUndefined();
  await expect
    .poll(() => JSON.stringify(agent.updates))
    .toContain("The folder /no/such does not exist and was left out.");
});

test("a session that was never prompted can be loaded in the next connection, and is in no list", async () => {
  const { agent } = await startWithModel();
  await agent.initialize();
  const sessionId = await agent.newSession();
  await agent.stop();
  const next = new AcpAgent({}, agent.home);
  onTestFinished(() => next.stop());
  await next.initialize();
  expect((await next.request("session/list", {})).result?.["sessions"]).toEqual([]);
  expect((await next.request("session/load", { sessionId, cwd: agent.cwd, mcpServers: [] })).error).toBeUndefined();
  expect((await next.prompt(sessionId, "list files")).result).toMatchObject({ stopReason: "end_turn" });
});

test("a missing key names the ways to set it that the client has", async () => {
  const messages: unknown[] = [];
  for (const capabilities of [{}, { _meta: { hermes: { palette: true } } }]) {
    const agent = new AcpAgent({ HERMES_PROVIDER: "openrouter", HERMES_MODEL: "m" });
    onTestFinished(() => agent.stop());
    await agent.initialize(capabilities);
    const { error } = await agent.request("session/new", { cwd: agent.cwd, mcpServers: [] });
    messages.push(error?.message?.replace(agent.home, "HOME"));
  }
  const missing = "No key is set for openrouter.";
  expect(messages).toEqual([
    expect.stringMatching(
      /^No key .*\. Set OPENROUTER_API_KEY in the environment or in HOME\/\.env\. Or run `node \S+ setup` in a terminal\.$/,
    ),
    missing, // the panel has a button
  ]);
});

test("an MCP server of the client that ends at once is named, once", async () => {
  const { agent } = await startWithModel();
  await agent.initialize();
  const mcpServers = [{ name: "files", command: "/bin/true", args: [], env: [] }];
  await agent.request("session/new", { cwd: agent.cwd, mcpServers });
  await expect
    .poll(() => agent.of("agent_thought_chunk").map(({ content }) => (content as Json)["text"]))
    .toEqual([expect.stringMatching(/^The MCP server files: .+\n$/)]);
});

test("after a logout new sessions need a login, and the keys stay", async () => {
  const { agent } = await startWithModel();
  expect((await agent.initialize())["agentCapabilities"]).toMatchObject({ auth: { logout: {} } });
  await agent.request("logout", {});
  const { error } = await agent.request("session/new", { cwd: agent.cwd, mcpServers: [] });
  expect(error).toMatchObject({ code: -32000, message: expect.stringContaining("You are logged out") });
  expect((await agent.request("authenticate", { methodId: "hermes-home" })).error).toBeUndefined();
  expect(await agent.newSession()).not.toBe("undefined");
});

test("the chunks of a replayed message have one id", async () => {
  const { agent, model } = await startWithModel();
  await agent.initialize();
  const sessionId = await agent.newSession();
  model.script({
    parts: [
      { type: "reasoning", text: "Hm." },
      { type: "text", text: "Yes." },
    ],
  });
  await agent.prompt(sessionId, "go");
  agent.updates.length = 0;
  await agent.request("session/load", { sessionId, cwd: agent.cwd, mcpServers: [] });
  const ids = agent.updates.filter(({ messageId }) => messageId !== undefined).map(({ messageId }) => messageId);
  expect(ids).toEqual(["message-0", "message-1", "message-1"]);
});

test("links without names, pictures as data URLs and pictures by their addresses arrive", async () => {
  const { agent, model } = await startWithModel();
  await agent.initialize();
  const sessionId = await agent.newSession();
  model.script(say("done"));
  const prompt = [
    { type: "resource_link", uri: `file://${agent.cwd}/a.txt` },
    { type: "image", mimeType: "image/png", data: "data:image/png;base64,iVBORw0KGgoAAAAN" },
    { type: "image", mimeType: "image/png", uri: `file://${agent.cwd}/b.png`, data: "" },
    { type: "image", data: "iVBORw0KGgoAAAAN--__" },
    { type: "image", mimeType: "application/octet-stream", data: "iVBORw0KGgoAAAANBBBB" },
  ];
  await agent.request("session/prompt", { sessionId, prompt });
  const sent = JSON.stringify(model.requests[0]?.body.messages);
  const pictures = ["oAAAAN++//", "oAAAANBBBB"].map((end) => `data:image/png;base64,iVBORw0KGg${end}`);
  for (const part of ["a.txt", "base64,iVBORw0KGgo", "b.png", ...pictures]) expect(sent).toContain(part);
});

test.each([
  ["no list of servers", {}],
  ["null for the list", { mcpServers: null }],
  ["a program without arguments and variables", { mcpServers: [{ name: "x", command: "/bin/true" }] }],
  ["an address without headers", { mcpServers: [{ name: "x", type: "http", url: "http://127.0.0.1:9/mcp" }] }],
])("an editor that sends %s gets a session", async (_, more) => {
  const { agent } = await startWithModel();
  await agent.initialize();
  const { result, error } = await agent.request("session/new", { cwd: agent.cwd, ...more });
  expect([error, typeof result?.["sessionId"]]).toEqual([undefined, "string"]);
});
