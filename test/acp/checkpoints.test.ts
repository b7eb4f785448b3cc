import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { Json } from "../support/acp-client.ts";

let agent: AcpAgent;
let sessionId: string;

beforeEach(async () => {
  agent = new AcpAgent();
  agent.on("session/request_permission", () => ({ outcome: { outcome: "selected", optionId: "once" } }));
  await agent.initialize();
  sessionId = await agent.newSession();
});

afterEach(async () => {
  await agent.stop();
});

const file = (name: string): string => readFileSync(join(agent.cwd, name), "utf8");

/** The agent's answer to what is said. */
async function say(text: string): Promise<string> {
  const before = agent.text().length;
  const { error } = await agent.prompt(sessionId, text);
  expect(error).toBeUndefined();
  return agent.text().slice(before);
}

/** Positions of the prompts, from the agent's updates. */
function positions(): number[] {
  const metas = agent.of("session_info_update").map(({ _meta }) => (_meta as { hermes?: Json } | undefined)?.hermes);
  return metas.flatMap((hermes) => (typeof hermes?.["position"] === "number" ? [hermes["position"]] : []));
}

test("the capability is declared, and a preview lists the effects of a restore", async () => {
  const { agentCapabilities } = await agent.initialize();
  expect(agentCapabilities).toMatchObject({ _meta: { hermes: { restore: true } } });
  await say('replace "one" with "ONE" in a.txt');
  await say('create b.txt with "b"');
  await say('replace "two" with "TWO" in a.txt');
  const [, second] = positions();
  const preview = await agent.request("_hermes/session/restore_preview", {
    sessionId,
    position: second,
    withTexts: true,
  });
  expect(preview.result).toEqual({
    files: [
      { path: join(agent.cwd, "b.txt"), change: "remove", added: 0, removed: 1, text: null },
      { path: join(agent.cwd, "a.txt"), change: "restore", added: 1, removed: 1, text: "ONE\ntwo\nthree\n" },
    ],
    messages: expect.any(Number),
    prompt: 'create b.txt with "b"',
  });
  expect(file("a.txt")).toBe("ONE\nTWO\nthree\n");
  const params = { sessionId, position: second, files: true, conversation: true };
  const restored = await agent.request("_hermes/session/restore", params);
  expect(restored.result).toMatchObject({ prompt: 'create b.txt with "b"', restoreId: expect.any(String) });
  expect([file("a.txt"), existsSync(join(agent.cwd, "b.txt"))]).toEqual(["ONE\ntwo\nthree\n", false]);
  expect(agent.of("session_info_update").at(-1)).toMatchObject({
    _meta: { hermes: { rewound: { position: second } } },
  });
  const undone = await agent.request("_hermes/session/undo_restore", {
    sessionId,
    restoreId: restored.result?.["restoreId"],
  });
  expect(undone.result).toMatchObject({ files: [{ change: "recreate" }, { change: "restore" }] });
  expect([file("a.txt").slice(0, 7), existsSync(join(agent.cwd, "b.txt"))]).toEqual(["ONE\nTWO", true]);
});

test("after a restore the agent edits the file again at once, and knows what a later turn had shown to it no more", async () => {
  await say('replace "one" with "ONE" in a.txt');
  await say('replace "two" with "TWO" in a.txt');
  const [, second] = positions();
  const point = { sessionId, position: second, files: true, conversation: true };
  const { result } = await agent.request("_hermes/session/restore", point);
  await agent.request("_hermes/session/undo_restore", { sessionId, restoreId: result?.["restoreId"] });
  await say('replace "three" with "THREE" in a.txt');
  await agent.request("_hermes/session/restore", point);
  await say('replace "two" with "ZWEI" in a.txt');
  expect(file("a.txt")).toBe("ONE\nZWEI\nthree\n");
  // The conversation alone: the file has what the model no longer knows.
  await agent.request("_hermes/session/restore", { ...point, position: positions().at(-1), files: false });
  expect(await say('replace "ZWEI" with "two" in a.txt')).toContain("has changed since you read it");
});

test("a restore is refused during a turn, and at a position without a user message", async () => {
  agent.on("session/request_permission", () => new Promise(() => undefined));
  const turn = agent.prompt(sessionId, "run sudo true");
  while (positions().length === 0) await agent.nextUpdate();
  const params = { sessionId, position: 0, files: true, conversation: true };
  const { error } = await agent.request("_hermes/session/restore", params);
  expect(error).toMatchObject({ code: -32600, message: expect.stringContaining("A turn is running") });
  agent.notify("session/cancel", { sessionId });
  await turn;
  const nowhere = await agent.request("_hermes/session/restore", { ...params, position: 99 });
  expect(nowhere.error).toMatchObject({
    code: -32602,
    message: expect.stringContaining("no user message at position 99"),
  });
});

test("/undo removes the last message, restores its files, and lists the files that it skipped", async () => {
  await say('create mine.txt with "mine"');
  await say('replace "one" with "ONE" in a.txt');
  expect(await say("/undo")).toContain('Undid “replace "one" with "ONE" in a.txt” and everything after it');
  expect(file("a.txt")).toBe("one\ntwo\nthree\n");
  writeFileSync(join(agent.cwd, "mine.txt"), "changed by me\n");
  expect(await say("/undo")).toContain("`mine.txt` skipped: you changed it since");
  expect(file("mine.txt")).toBe("changed by me\n");
  expect(await say("/undo")).toContain("Nothing to undo");
});

test("/checkpoint lists, previews, restores after a confirmation, and undoes, including changes by commands and after a restart", async () => {
  // A command waits for copies of changed files after the first scan only; the first scan copies in the background.
  await say("run true");
  await say('replace "one" with "ONE" in a.txt');
  await say("run rm a.txt");
  expect(existsSync(join(agent.cwd, "a.txt"))).toBe(false);
  await agent.stop();
  const { cwd, home } = agent;
  agent = new AcpAgent({}, home);
  await agent.initialize();
  await agent.request("session/load", { sessionId, cwd, mcpServers: [] });
  const list = await say("/checkpoint");
  expect(list).toContain('2. “replace "one" with "ONE" in a.txt”: 1 file changed since');
  expect(list).toContain("3. “run rm a.txt”: 1 file changed since");
  const preview = await say("/checkpoint restore 3 files");
  expect(preview).toContain("`a.txt` recreated (+3 −0)");
  expect(existsSync(join(cwd, "a.txt"))).toBe(false);
  expect(await say("/checkpoint restore 3 files confirm")).toContain("Restored to before");
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("ONE\ntwo\nthree\n");
  expect(await say("/checkpoint undo")).toContain("`a.txt` removed");
  expect(await say("/checkpoint restore 7")).toContain("There is no checkpoint 7");
  expect(await say("/checkpoint resotre")).toContain("Usage:");
});

test("an editor with unsaved text gets the earlier one through its own document", async () => {
  await agent.stop();
  agent = new AcpAgent();
  const document = { text: "unsaved one\n" };
  agent.on("fs/read_text_file", ({ path }) => ({
    content: String(path).endsWith("a.txt") ? document.text : readFileSync(String(path), "utf8"),
  }));
  agent.on("fs/write_text_file", ({ content }) => {
    document.text = String(content);
    return {};
  });
  await agent.initialize({ fs: { readTextFile: true, writeTextFile: true } });
  sessionId = await agent.newSession();
  await say('replace "unsaved" with "edited" in a.txt');
  expect(document.text).toBe("edited one\n");
  expect(await say("/undo")).toContain("`a.txt` restored (+1 −1)");
  expect(document.text).toBe("unsaved one\n");
  expect(file("a.txt")).toBe("one\ntwo\nthree\n");
});

test("the deletion of a session removes its copies of files", async () => {
  await say('replace "one" with "ONE" in a.txt');
  const hash = createHash("sha256").update("one\ntwo\nthree\n").digest("hex");
  const copy = join(agent.home, "vscode", "checkpoints", hash.slice(0, 2), hash.slice(2));
  expect(existsSync(copy)).toBe(true);
  await agent.request("session/delete", { sessionId });
  expect(existsSync(copy)).toBe(false);
});
