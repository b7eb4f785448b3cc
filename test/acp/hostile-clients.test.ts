import { spawn } from "node:child_process";
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { Json, Reply } from "../support/acp-client.ts";
import type { Answer } from "../support/model-server/answer.ts";
import {
  call,
  callTools,
  hold,
  type ModelServer,
  say,
  startModelServer,
} from "../support/model-server/model-server.ts";

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

async function withModel(answer: (body: Json) => Answer): Promise<{ agent: AcpAgent; model: ModelServer }> {
  const model = await startModelServer();
  running.push(model);
  model.respondWith((body) => answer(body as unknown as Json));
  return { agent: await start(environmentOf(model)), model };
}

const environmentOf = (model: ModelServer): Record<string, string> => ({
  HERMES_BASE_URL: model.baseUrl,
  HERMES_MODEL: "test-model",
  HERMES_API_KEY: "sk-test-key-123456",
});

const isSummary = (body: Json): boolean => JSON.stringify(body).includes("You sum up a part of a conversation");
const folderOf = (agent: AcpAgent): string => join(agent.home, "vscode", "sessions");
const list = (agent: AcpAgent, params: Json = {}): Promise<Reply> => agent.request("session/list", params);
const listedIn = ({ result }: Reply): Json[] => (result?.["sessions"] ?? []) as Json[];
const idsOf = (reply: Reply): unknown[] => listedIn(reply).map(({ sessionId }) => sessionId);

/** A conversation of which `/compress` has something to take, and the moment at which its summary is asked for. */
async function compressing(): Promise<{ agent: AcpAgent; id: string; over: Promise<Reply>; release: () => void }> {
  const { agent, model } = await withModel(() => say("long words ".repeat(100)));
  const id = await agent.newSession();
  for (let turn = 0; turn < 14; turn += 1) await agent.prompt(id, `Question ${turn}`);
  const held = hold();
  model.respondWith((body) =>
    isSummary(body as unknown as Json) ? { parts: [held.part, { type: "text", text: "The summary." }] } : say("Yes."),
  );
  const over = agent.prompt(id, "/compress");
  await held.reached;
  return { agent, id, over, release: held.release };
}

test("a rewind is refused during a compression", async () => {
  const { agent, id, over, release } = await compressing();
  const { error } = await agent.request("_hermes/session/rewind", { sessionId: id, position: 4 });
  expect(error?.message).toContain("A turn is running");
  release();
  expect((await over).result).toMatchObject({ stopReason: "end_turn" });
});

test("/compress that is cancelled ends as a cancelled turn, and changes nothing", async () => {
  const { agent, id, over, release } = await compressing();
  agent.notify("session/cancel", { sessionId: id });
  expect((await over).result).toMatchObject({ stopReason: "cancelled" });
  release();
  expect((await agent.prompt(id, "go on")).result).toMatchObject({ stopReason: "end_turn" });
  expect(readFileSync(join(folderOf(agent), `${id}.jsonl`), "utf8")).not.toContain('"type":"compression"');
});

test.for([
  ["many words", "word ".repeat(20_000)],
  ["one long word", "a".repeat(100_000)],
  ["many ORs", "list OR ".repeat(10_000)],
])("a search for %s is answered", async ([, query]) => {
  const agent = await start();
  await agent.prompt(await agent.newSession(), "list files");
  const { error, result } = await agent.request("_hermes/session/search", { query });
  expect(error).toBeUndefined();
  expect(result?.["hits"]).toEqual(expect.any(Array));
});

test("pages continue correctly after their last session was used or deleted", async () => {
  const agent = await start();
  const id = await agent.newSession();
  await agent.prompt(id, "list files");
  const text = readFileSync(join(folderOf(agent), `${id}.jsonl`), "utf8");
  const idAt = (number: number): string => `20200101_000000_${String(number).padStart(8, "0")}`;
  for (let number = 0; number < 70; number += 1) {
    const other = text.replace(id, idAt(number)).replaceAll(/"at":\d+/g, `"at":${1_000_000 + number}`);
    writeFileSync(join(folderOf(agent), `${idAt(number)}.jsonl`), other);
  }
  const first = await list(agent);
  const ids = idsOf(first);
  expect(ids).toHaveLength(50);
  const last = String(ids.at(-1));
  const entry = { type: "title", title: "Used", at: 2_000_000 };
  appendFileSync(join(folderOf(agent), `${last}.jsonl`), `${JSON.stringify(entry)}\n`);
  const used = idsOf(await list(agent, { cursor: first.result?.["nextCursor"] }));
  expect(used).toHaveLength(21);
  expect(used.filter((other) => ids.includes(other))).toEqual([]);
  await agent.request("session/delete", { sessionId: last });
  expect(idsOf(await list(agent, { cursor: first.result?.["nextCursor"] }))).toEqual(used);
  expect((await list(agent, { cursor: "no cursor" })).error?.message).toContain("cursor");
});

test("a fork from a place that is none is refused instead of taking everything over", async () => {
  const agent = await start();
  const id = await agent.newSession();
  await agent.prompt(id, "list files");
  for (const position of [-1, 1.5, "0", null]) {
    const fork = { sessionId: id, cwd: agent.cwd, mcpServers: [], _meta: { hermes: { position } } };
    expect((await agent.request("session/fork", fork)).error?.message).toContain("position");
  }
  expect(readdirSync(folderOf(agent)).filter((name) => name.endsWith(".jsonl"))).toHaveLength(1);
});

test("a title is one line without control characters", async () => {
  const agent = await start();
  const id = await agent.newSession();
  await agent.prompt(id, "list files");
  const rename = (title: string): Promise<Reply> => agent.request("_hermes/session/rename", { sessionId: id, title });
  const title = async (): Promise<unknown> => listedIn(await list(agent))[0]?.["title"];
  await rename("two\n  lines \u001b[31mred\u001b[0m\u0000 \u202Etxt");
  expect(await title()).toBe("two lines red txt");
  await agent.prompt(id, "/title \u001b[1mbold\u0007 words");
  expect(await title()).toBe("bold words");
  expect((await rename("\u0000\u001b[0m")).error?.message).toContain("title");
  expect((await rename("x".repeat(10_000))).error?.message).toContain("title");
  expect(await title()).toBe("bold words");
});

test("a session whose first line is damaged is listed, found and resumed like any other", async () => {
  const agent = await start();
  const id = await agent.newSession();
  await agent.prompt(id, "read a.txt");
  await agent.stop();
  const path = join(folderOf(agent), `${id}.jsonl`);
  writeFileSync(path, readFileSync(path, "utf8").replace('"type":"session"', '"tipe":"session"'));
  const next = await start({}, agent.home);
  expect(idsOf(await list(next))).toEqual([id]);
  expect(idsOf(await list(next, { cwd: next.cwd }))).toEqual([id]);
  const [listed] = listedIn(await list(next));
  expect(listed?.["cwd"]).toMatch(/^\//);
  const { result } = await next.request("_hermes/session/search", { query: "read" });
  expect(result?.["hits"]).toMatchObject([{ sessionId: id }]);
});

test("messages that /resume copied are replayed unchanged when their session is loaded later", async () => {
  const { agent } = await withModel(({ messages }) => {
    const isResult = (messages as Json[]).at(-1)?.["role"] === "tool";
    return isResult ? say("done") : callTools(call("write_file", { path: "n.txt", content: "new\n" }));
  });
  const first = await agent.newSession();
  await agent.prompt(first, "write it");
  expect(await agent.prompt(first, `/resume ${first}`)).toMatchObject({ result: { stopReason: "end_turn" } });
  expect(agent.text()).toContain("You are already in that session.");
  const second = await agent.newSession();
  agent.updates.length = 0;
  await agent.prompt(second, `/resume ${first}`);
  const shown = agent.of("tool_call");
  expect(shown).toMatchObject([{ title: "Write n.txt", kind: "edit", content: [{ type: "diff" }] }]);
  agent.updates.length = 0;
  await agent.request("session/load", { sessionId: second, cwd: agent.cwd, mcpServers: [] });
  expect(agent.of("tool_call")).toEqual(shown);
});

test("/resume copies all messages of a compressed session, and the model gets the summary", async () => {
  const { agent, model } = await withModel((body) =>
    isSummary(body) ? say("The summary.") : say("long words ".repeat(100)),
  );
  const first = await agent.newSession();
  for (let turn = 0; turn < 14; turn += 1) await agent.prompt(first, `Question ${turn}`);
  await agent.prompt(first, "/compress");
  const second = await agent.newSession();
  await agent.prompt(second, `/resume ${first}`);
  await agent.request("session/close", { sessionId: second });
  agent.updates.length = 0;
  await agent.request("session/load", { sessionId: second, cwd: agent.cwd, mcpServers: [] });
  const said = agent.of("user_message_chunk").map(({ content }) => (content as Json)["text"]);
  expect(said).toEqual(Array.from({ length: 14 }, (_, turn) => `Question ${turn}`));
  model.forget();
  await agent.prompt(second, "And now?");
  const sent = JSON.stringify(model.requests[0]?.body.messages);
  expect(sent).toContain("The summary.");
  expect(sent).not.toContain("Question 3");
});

test("a session that is being deleted is not opened meanwhile", async () => {
  const { agent } = await withModel(() => say("An answer."));
  const sessionId = await agent.newSession();
  await agent.prompt(sessionId, "A question.");
  const load = { sessionId, cwd: agent.cwd, mcpServers: [] };
  const [deleted, loaded, again] = await Promise.all([
    agent.request("session/delete", { sessionId }),
    agent.request("session/load", load),
    agent.request("session/load", load),
  ]);
  expect(deleted.error).toBeUndefined();
  for (const { error } of [loaded, again]) expect(error?.message).toContain("there is no such session");
});

test("--resume prints only the new answer", async () => {
  const { agent, model } = await withModel(({ messages }) => say(`answer ${(messages as unknown[]).length}`));
  const id = await agent.newSession();
  await agent.prompt(id, "first");
  await agent.stop();
  const { stdout } = await headless(["--resume", id, "--cwd", agent.cwd, "second"], model, agent.home);
  expect(stdout).toBe("answer 4\n");
});

test("--resume accepts words of a title, and defaults to the folder's last session", async () => {
  const { agent, model } = await withModel(({ messages }) => say(`answer ${(messages as unknown[]).length}`));
  for (const title of ["Red roses", "Red tulips", "Red roses and more"]) {
    const id = await agent.newSession();
    for (let turn = 0; turn < title.length / 8; turn += 1) await agent.prompt(id, "A question.");
    await agent.prompt(id, `/title ${title}`);
  }
  const ids = (await agent.request("session/list", {})).result?.["sessions"] as { sessionId: string }[];
  await agent.stop();
  const resume = (wanted: string, ...rest: string[]) =>
    headless(["--resume", wanted, "--cwd", agent.cwd, ...rest, "And now?"], model, agent.home);
  expect((await resume("tulips")).stdout).toBe("answer 6\n");
  expect((await resume("last")).stdout).toBe("answer 8\n"); // the one before, since it was used last
  expect((await resume("red roses")).stdout).toBe("answer 6\n"); // to the letter, but for its case
  const several = await resume("red");
  expect(several).toMatchObject({ stdout: "", code: 1 });
  for (const { sessionId } of ids) expect(several.stderr).toContain(sessionId);
  const none = await resume("violets");
  expect(none).toMatchObject({ code: 1, stderr: "hermes: There is no session with “violets” in its title.\n" });
  const elsewhere = await resume("last", "--cwd", "/");
  expect(elsewhere.stderr).toContain(
    `There is no earlier session in /. The last one of ${agent.cwd}: hermes --resume `,
  );
  expect(elsewhere.code).toBe(1);
});

type Ended = { readonly stdout: string; readonly stderr: string; readonly code: number | null };

function headless(args: readonly string[], model: ModelServer, home: string): Promise<Ended> {
  const { PATH = "" } = process.env;
  const env = {
    PATH,
    TMPDIR: tmpdir(),
    HOME: home,
    HERMES_HOME: home,
    HERMES_LOCAL_SERVERS: "off",
    ...environmentOf(model),
  };
  return new Promise((resolve) => {
    const child = spawn("node", ["dist/cli.js", ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
    const printed = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      child[name].on("data", (data) => {
        printed[name] += String(data);
      });
    }
    child.once("close", (code) => resolve({ ...printed, code }));
  });
}
