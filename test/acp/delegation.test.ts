// Delegation as a client of the protocol sees it: nested calls, the state of the tasks, and control over each sub-agent.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sessionsFolder } from "../../agent-core/config/home.ts";
import { AcpAgent } from "../support/acp-agent.ts";
import type { AcpClient, Json } from "../support/acp-client.ts";
import { AcpProcess } from "../support/acp-process.ts";
import type { Answer } from "../support/model-server/answer.ts";
import { call, fail, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";

type Body = ModelServer["requests"][number]["body"];
type Task = { readonly id: string; readonly status: string; readonly [field: string]: unknown };

const promptOf = ({ messages }: Body): string => String(messages.find(({ role }) => role === "user")?.["content"]);

/** The parent delegates `tasks` and ends; each sub-agent answers by the first word of its goal, in order of its requests. */
function scripted(model: ModelServer, tasks: unknown, children: Readonly<Record<string, readonly Answer[]>>): void {
  const asked = new Map<string, number>();
  model.respondWith((body) => {
    const prompt = promptOf(body);
    if (prompt === "go") {
      const isBegun = body.messages.some(({ role }) => role === "tool");
      return isBegun ? say("all done") : { parts: [call("delegate_task", { tasks })] };
    }
    const name = /^\w+/.exec(prompt)?.[0] ?? "";
    const count = asked.get(name) ?? 0;
    asked.set(name, count + 1);
    return children[name]?.[count] ?? say(`${name} is done.`);
  });
}

async function started(
  Client: typeof AcpAgent | typeof AcpProcess,
): Promise<{ client: AcpClient; model: ModelServer }> {
  const model = await startModelServer();
  onTestFinished(() => model.stop());
  const client = new Client({ HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "m", HERMES_API_KEY: "sk-test-123456" });
  onTestFinished(() => client.stop());
  const { agentCapabilities } = await client.initialize();
  expect(agentCapabilities).toMatchObject({ _meta: { hermes: { delegation: true } } });
  return { client, model };
}

const hermesOf = (update: Json): Json => ((update["_meta"] as Json | undefined)?.["hermes"] as Json | undefined) ?? {};

/** Every state of the tasks that the client got. */
function states(client: AcpClient): readonly (readonly Task[])[] {
  return client.updates.flatMap((update) => {
    const { tasks } = hermesOf(update);
    return tasks === undefined ? [] : [tasks as readonly Task[]];
  });
}

const SCHEMA = { type: "object", properties: { count: { type: "integer" } }, required: ["count"] };

test("a graph in which one task breaks its schema once, one times out and one dies gives all that was made", async () => {
  const { client, model } = await started(AcpProcess);
  const [opened, sideBySide] = [new Set<string>(), Promise.withResolvers<void>()];
  /** Answers once b, c, d and x have asked, so that they overlap. */
  const together = (name: string, answer: Extract<Answer, { parts: unknown }>): Answer => {
    const reached = (): void => {
      opened.add(name);
      if (opened.size === 3) sideBySide.resolve();
    };
    return { ...answer, parts: [{ type: "wait", until: sideBySide.promise, reached }, ...answer.parts] };
  };
  const after = (id: string, ...dependsOn: string[]) => ({ id, goal: `${id}: do it`, depends_on: dependsOn });
  const tasks = [
    { id: "a", goal: "a: do it" },
    { ...after("b", "a"), result_schema: SCHEMA },
    { ...after("c", "a"), timeout_seconds: 8 },
    after("d", "a"),
    after("e", "b", "c", "d"),
    after("f", "e"),
    { id: "x", goal: "x: do it" },
    after("y", "x"),
  ];
  scripted(model, tasks, {
    b: [together("b", { parts: [{ type: "text", text: "There are three." }] }), say('{"count": 3}')],
    c: [together("c", { parts: [call("write_file", { path: "c.txt", content: "half\n" })] }), { silent: true }],
    d: [together("d", { parts: [{ type: "text", text: "d is done." }] })],
    x: [fail(400, "the model does not exist")],
  });
  const sessionId = await client.newSession();
  expect((await client.prompt(sessionId, "go")).result).toMatchObject({ stopReason: "end_turn" });
  const last = model.requests.at(-1)?.body.messages.findLast(({ role }) => role === "tool");
  const results = JSON.parse(String(last?.["content"])) as readonly Task[];
  expect(results.map(({ id, status }) => `${id} ${status}`)).toEqual([
    ...[
      "a completed",
      "b completed",
      "c partial",
      "d completed",
      "e completed",
      "f completed",
      "x failed",
      "y skipped",
    ],
  ]);
  expect(results[1]).toMatchObject({ schema_valid: true, result: { count: 3 }, iterations: 2 });
  expect(results[2]).toMatchObject({ files: [{ path: "c.txt", hunks: 1 }], reason: "It ran out of time after 8 s." });
  expect(results[7]).toMatchObject({ reason: expect.stringContaining('It depends on "x", which failed') });
  const e = model.requests.map(({ body }) => promptOf(body)).find((prompt) => prompt.startsWith("e:"));
  expect(e).toContain('<task_result name="b">');
  expect(e).toContain("Status: partial, so this result is incomplete.");
  expect(
    states(client)
      .at(-1)
      ?.map(({ status }) => status),
  ).toEqual(results.map(({ status }) => status));
});

test("calls of sub-agents are parts of the card, which says in plain text what each task does", async () => {
  const { client, model } = await started(AcpAgent);
  scripted(model, [{ id: "a", goal: "a: do it" }], { a: [{ parts: [call("read_file", { path: "a.txt" })] }] });
  await client.prompt(await client.newSession(), "go");
  const [card, nested] = client.of("tool_call");
  expect(hermesOf(nested as Json)).toEqual({ parentToolCallId: card?.["toolCallId"], taskId: "a" });
  expect(nested?.["toolCallId"]).toMatch(new RegExp(`^${String(card?.["toolCallId"])}/a/`));
  const shown = client.of("tool_call_update").filter(({ toolCallId }) => toolCallId === card?.["toolCallId"]);
  expect(JSON.stringify(shown.at(-1))).toContain("a: a: do it — completed, 2 steps");
});

test("the user stops one sub-agent, steers another, and reads their conversations", async () => {
  const { client, model } = await started(AcpAgent);
  scripted(
    model,
    ["a", "b"].map((id) => ({ id, goal: `${id}: do it` })),
    {
      a: [{ silent: true }],
      b: [{ parts: [call("terminal", { command: "until test -e steered; do sleep 0.01; done" })] }],
    },
  );
  const sessionId = await client.newSession();
  await client.request("session/set_mode", { sessionId, modeId: "auto" });
  const turn = client.prompt(sessionId, "go");
  await expect.poll(() => client.of("tool_call").length).toBe(2);
  const callId = client.of("tool_call")[0]?.["toolCallId"];
  const steered = await client.request("_hermes/delegation/steer", {
    sessionId,
    callId,
    taskId: "b",
    text: "in French",
  });
  expect(steered.result).toEqual({});
  const none = await client.request("_hermes/delegation/steer", { sessionId, callId, taskId: "x", text: "in French" });
  expect(none.error).toMatchObject({ code: -32600, message: expect.stringContaining('"x" does not run') });
  expect((await client.request("_hermes/delegation/stop", { sessionId, callId, taskId: "a" })).result).toEqual({});
  await expect
    .poll(() => states(client).at(-1)?.[0])
    .toMatchObject({ status: "cancelled", reason: "The user stopped it." });
  writeSteered(client);
  expect((await turn).result).toMatchObject({ stopReason: "end_turn" });
  const [a, b] = states(client).at(-1) ?? [];
  expect([a?.status, b?.status]).toEqual(["cancelled", "completed"]);
  const transcript = { sessionId, child: b?.["sessionId"] };
  const page = (await client.request("_hermes/delegation/transcript", transcript)).result;
  expect(JSON.stringify(page?.["updates"])).toContain("in French");
  expect(page?.["earlier"]).toBeNull();
  const other = (await client.request("_hermes/delegation/transcript", { sessionId, child: sessionId })).error;
  expect(other?.message).toContain("not a sub-agent of this session");
});

function writeSteered(client: AcpClient): void {
  expect(existsSync(join(client.cwd, "steered"))).toBe(false);
  writeFileSync(join(client.cwd, "steered"), "");
}

test("a reloaded session shows the card with its tasks, and lists and searches leave sub-agents out", async () => {
  const { client, model } = await started(AcpAgent);
  scripted(model, [{ id: "a", goal: "a: find the zebra" }], {
    a: [{ parts: [call("write_file", { path: "z.txt", content: "zebra\n" })] }, say("The zebra is in z.txt.")],
  });
  const sessionId = await client.newSession();
  await client.prompt(sessionId, "go");
  expect(readFileSync(join(client.cwd, "z.txt"), "utf8")).toBe("zebra\n");
  const before = states(client).at(-1);
  await client.request("session/close", { sessionId });
  client.updates.length = 0;
  await client.request("session/load", { sessionId, cwd: client.cwd, mcpServers: [] });
  expect(states(client)).toEqual([before]);
  const idsIn = async (method: string, params: Json, field: string): Promise<readonly unknown[]> => {
    const { result = {} } = await client.request(method, params);
    return (result[field] as readonly Json[]).map((found) => found["sessionId"]);
  };
  expect(await idsIn("session/list", {}, "sessions")).toEqual([sessionId]);
  expect(await idsIn("_hermes/session/search", { query: "zebra" }, "hits")).toEqual([sessionId]);
  const child = join(sessionsFolder(client.home), `${String(before?.[0]?.["sessionId"])}.jsonl`);
  expect(existsSync(child)).toBe(true);
  await client.request("session/delete", { sessionId });
  expect(existsSync(child)).toBe(false);
});

test("after the end of the process the card and the model get what the sub-agents did until then", async () => {
  const { client, model } = await started(AcpProcess);
  const beta = { goal: "b: do it", depends_on: ["a"] };
  scripted(model, [{ id: "a", goal: "a: do it" }, beta], {
    a: [{ parts: [call("write_file", { path: "half.txt", content: "half\n" })] }, { silent: true }],
  });
  const sessionId = await client.newSession();
  void client.prompt(sessionId, "go");
  await expect.poll(() => states(client).at(-1)?.[0]?.["files"]).toEqual([{ path: "half.txt", hunks: 1 }]);
  (client as AcpProcess).child.kill("SIGKILL");
  await (client as AcpProcess).exited;
  const again = new AcpProcess(
    { HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "m", HERMES_API_KEY: "sk-1" },
    client.home,
  );
  onTestFinished(() => again.stop());
  await again.initialize();
  await again.request("session/load", { sessionId, cwd: client.cwd, mcpServers: [] });
  expect(states(again).at(-1)).toMatchObject([
    { id: "a", status: "partial", reason: "Hermes ended while it ran.", files: [{ path: "half.txt", hunks: 1 }] },
    { id: "task-2", status: "skipped", reason: "Hermes ended before it began.", dependsOn: ["a"] },
  ]);
  model.respondWith(() => say("I see."));
  await again.prompt(sessionId, "what was done?");
  const result = model.requests.at(-1)?.body.messages.find(({ role }) => role === "tool");
  expect(result?.["content"]).toContain('"files":[{"path":"half.txt","hunks":1}]');
});

test("a message to a custom agent reaches a sub-agent with its role and its tools only", async () => {
  const { client, model } = await started(AcpAgent);
  mkdirSync(join(client.cwd, ".claude", "agents"), { recursive: true });
  const file = "---\nname: reviewer\ndescription: Reviews changes\ntools: Read, Grep\n---\nYou review. Be strict.\n";
  writeFileSync(join(client.cwd, ".claude", "agents", "reviewer.md"), file);
  const toolsOfChild: string[] = [];
  model.respondWith(({ messages, tools }) => {
    const asked = JSON.stringify(messages);
    if (asked.includes("You review. Be strict.")) {
      const offered = (tools ?? []) as readonly { readonly function: { readonly name: string } }[];
      toolsOfChild.push(...offered.map(({ function: { name } }) => name));
      return say("It is fine.");
    }
    if (messages.some(({ role }) => role === "tool")) return say("The reviewer says that it is fine.");
    expect(asked).toContain("- reviewer: Reviews changes");
    expect(asked).toContain('Call delegate_task with agent \\"reviewer\\"');
    return { parts: [call("delegate_task", { goal: "check a.txt", agent: "reviewer" })] };
  });
  const session = await client.newSession();
  await client.prompt(session, "@reviewer check a.txt");
  expect(new Set(toolsOfChild)).toEqual(new Set(["read_file", "search_files"]));
  await client.prompt(session, "/agents");
  expect(JSON.stringify(client.updates.at(-1))).toContain("**@reviewer**: Reviews changes · tools: Read, Grep · `.");
});
