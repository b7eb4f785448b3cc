// A worktree from its start to its end, as a client of the protocol drives it.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";

let agent: AcpAgent;

const git = (...args: string[]): string => execFileSync("git", args, { cwd: agent.cwd, encoding: "utf8" }).trim();

beforeEach(async () => {
  agent = new AcpAgent({ HERMES_PROVIDER: "offline" });
  await agent.initialize();
  git("init", "-q", "-b", "main");
  git("config", "user.name", "Ada");
  git("config", "user.email", "ada@example.org");
  writeFileSync(join(agent.cwd, "a.txt"), "one\n");
  git("add", ".");
  git("commit", "-qm", "first");
});
afterEach(async () => {
  rmSync(`${agent.cwd}.worktrees`, { recursive: true, force: true });
  await agent.stop();
});

async function answer(sessionId: string, text: string): Promise<string> {
  const before = agent.updates.length;
  await agent.prompt(sessionId, text);
  return JSON.stringify(agent.updates.slice(before));
}

test("a session works in a worktree of its own, and its work is merged by one command", async () => {
  const { result: made } = await agent.request("_hermes/worktree/add", { cwd: agent.cwd, name: "Shout" });
  const path = String(made?.["path"]);
  const { result } = await agent.request("session/new", { cwd: path, mcpServers: [] });
  const session = String(result?.["sessionId"]);
  await agent.prompt(session, 'replace "one" with "ONE" in a.txt');
  expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("ONE\n");
  expect(readFileSync(join(agent.cwd, "a.txt"), "utf8")).toBe("one\n");
  expect(await answer(session, "/worktree")).toContain("1 changed files, 0 commits, 1 files not committed");
  expect(await answer(session, "/worktree discard")).toContain("/worktree discard confirm");
  expect(await answer(session, "/worktree merge")).toContain("Merged hermes/shout into main");
  expect(readFileSync(join(agent.cwd, "a.txt"), "utf8")).toBe("ONE\n");
  expect(existsSync(path)).toBe(false);
});

test("a worktree ends as a patch beside the repository, and another folder is refused in words", async () => {
  const { result: made } = await agent.request("_hermes/worktree/add", { cwd: agent.cwd, name: "two" });
  const path = String(made?.["path"]);
  writeFileSync(join(path, "new.txt"), "new\n");
  const { result } = await agent.request("_hermes/worktree/end", { cwd: path, end: "patch" });
  expect(result?.["file"]).toBe(join(agent.cwd, "..", `${basename(agent.cwd)}.worktrees`, "two.patch"));
  expect(readFileSync(String(result?.["file"]), "utf8")).toContain("+new");
  const { error } = await agent.request("_hermes/worktree/end", { cwd: agent.cwd, end: "merge" });
  expect(JSON.stringify(error)).toContain("is not in a worktree that Hermes made");
  const { error: gone } = await agent.request("_hermes/worktree/end", { cwd: path, end: "merge" });
  expect(JSON.stringify(gone)).toContain("two is gone.");
});

test("a new worktree gets the copies and the set-up of config.yaml, and what failed is said", async () => {
  writeFileSync(join(agent.cwd, ".gitignore"), ".env\n");
  git("add", ".gitignore");
  git("commit", "-qm", "ignore");
  writeFileSync(join(agent.cwd, ".env"), "MODE=test\n");
  const configure = (setup: string): void =>
    writeFileSync(join(agent.home, "config.yaml"), `worktrees:\n  copy: [".env"]\n  setup: [${setup}]\n`);
  configure('"cp .env made.txt"');
  const { result: made } = await agent.request("_hermes/worktree/add", { cwd: agent.cwd, name: "three" });
  expect(made?.["problems"]).toEqual([]);
  expect(readFileSync(join(String(made?.["path"]), "made.txt"), "utf8")).toBe("MODE=test\n");
  configure('"echo no such package >&2; exit 3", "touch later"');
  const { result: broken } = await agent.request("_hermes/worktree/add", { cwd: agent.cwd, name: "four" });
  expect(String(broken?.["problems"])).toMatch(/set-up of the worktree failed: .*exit code 3.*no such package/s);
  expect(existsSync(join(String(broken?.["path"]), "later"))).toBe(false);
});

test("an end that conflicts changes nothing and names the files", async () => {
  const { result: made } = await agent.request("_hermes/worktree/add", { cwd: agent.cwd, name: "five" });
  const path = String(made?.["path"]);
  writeFileSync(join(path, "a.txt"), "theirs\n");
  writeFileSync(join(agent.cwd, "a.txt"), "ours\n");
  git("commit", "-qam", "ours");
  for (const end of ["merge", "rebase"]) {
    const { result } = await agent.request("_hermes/worktree/end", { cwd: path, end });
    expect(result?.["conflicts"]).toEqual(["a.txt"]);
  }
  expect(existsSync(path)).toBe(true);
});

test("a worktree does not end while a session works in it in another window, and ends after its stop", async () => {
  const { result: made } = await agent.request("_hermes/worktree/add", { cwd: agent.cwd, name: "busy" });
  const path = String(made?.["path"]);
  const other = new AcpAgent({ HERMES_PROVIDER: "offline" }, agent.home);
  onTestFinished(() => other.stop());
  await other.initialize();
  const { result } = await other.request("session/new", { cwd: agent.cwd, mcpServers: [] });
  const sessionId = String(result?.["sessionId"]);
  await other.prompt(sessionId, "hello");
  await other.request("session/load", { sessionId, cwd: path, mcpServers: [] }); // it goes on there
  await other.request("session/set_mode", { sessionId, modeId: "auto" });
  const turn = other.prompt(sessionId, "run touch begun; until test -e never; do sleep 0.05; done");
  await expect.poll(() => existsSync(join(path, "begun"))).toBe(true);
  for (const end of ["merge", "patch", "discard"]) {
    const { error } = await agent.request("_hermes/worktree/end", { cwd: path, end });
    expect(JSON.stringify(error)).toContain("Stop it first.");
  }
  other.notify("session/cancel", { sessionId });
  await turn;
  const { result: next } = await agent.request("session/new", { cwd: path, mcpServers: [] });
  expect(await answer(String(next?.["sessionId"]), "/worktree merge")).toContain("Merged hermes/busy");
});

test("the changes of a worktree are shown with the texts from before, also with new, deleted and binary files", async () => {
  writeFileSync(join(agent.cwd, "gone.txt"), "gone\n");
  writeFileSync(join(agent.cwd, "später.txt"), "später\n");
  git("add", ".");
  git("commit", "-qm", "second");
  const { result: made } = await agent.request("_hermes/worktree/add", { cwd: agent.cwd, name: "six" });
  const path = String(made?.["path"]);
  expect((await agent.request("_hermes/worktree/changes", { cwd: path })).result).toEqual({ files: [], total: 0 });
  // The main folder goes on: its changes are not the worktree's.
  writeFileSync(join(agent.cwd, "main.txt"), "main\n");
  git("add", ".");
  git("commit", "-qm", "main goes on");
  const own = (...args: string[]) => execFileSync("git", args, { cwd: path });
  writeFileSync(join(path, "a.txt"), "ONE\n");
  own("commit", "-qam", "committed");
  writeFileSync(join(path, "später.txt"), "früher\n");
  rmSync(join(path, "gone.txt"));
  writeFileSync(join(path, "new file.txt"), "new\n");
  writeFileSync(join(path, "picture.png"), Buffer.from([137, 80, 78, 71, 0, 0, 255]));
  own("add", "picture.png");
  own("commit", "-qm", "picture");
  writeFileSync(join(path, "picture.png"), Buffer.from([137, 80, 78, 71, 0, 0, 254]));
  const { result } = await agent.request("_hermes/worktree/changes", { cwd: path });
  const file = (name: string, text: string | null, isThere = true) => ({ path: join(path, name), text, isThere });
  expect(result?.["total"]).toBe(5);
  expect(result?.["files"]).toEqual([
    file("a.txt", "one\n"),
    file("gone.txt", "gone\n", false),
    file("picture.png", null),
    file("später.txt", "später\n"),
    file("new file.txt", null),
  ]);
  const { error } = await agent.request("_hermes/worktree/changes", { cwd: agent.cwd });
  expect(JSON.stringify(error)).toContain("is not in a worktree that Hermes made");
});

test("a client learns that the first message of a new session belongs into a worktree, where one can be made", async () => {
  const startsInWorktree = async (cwd: string): Promise<unknown> => {
    const { result } = await agent.request("session/new", { cwd, mcpServers: [] });
    return (result?.["_meta"] as { hermes?: { startsInWorktree?: boolean } } | undefined)?.hermes?.startsInWorktree;
  };
  await agent.initialize({ _meta: { hermes: { sandbox: true } } });
  expect(await startsInWorktree(agent.cwd)).toBe(false);
  writeFileSync(join(agent.home, "config.yaml"), "worktree: true\n");
  const { result: made } = await agent.request("_hermes/worktree/add", { cwd: agent.cwd, name: "seven" });
  const unborn = join(agent.home, "unborn");
  execFileSync("git", ["init", "-q", unborn]);
  const places = [agent.cwd, String(made?.["path"]), unborn, agent.home];
  expect(await Promise.all(places.map(startsInWorktree))).toEqual([true, false, false, false]);
});

test("a client that asks for it gets the sessions of worktrees in lists, and goes on with one there as long as it exists", async () => {
  await agent.initialize({ _meta: { hermes: { sandbox: true } } });
  const { result: made } = await agent.request("_hermes/worktree/add", { cwd: agent.cwd, name: "eight" });
  const path = String(made?.["path"]);
  const { result } = await agent.request("session/new", { cwd: path, mcpServers: [] });
  const sessionId = String(result?.["sessionId"]);
  await agent.prompt(sessionId, "read a.txt");
  const listed = async (hermes: object): Promise<readonly unknown[]> => {
    const list = await agent.request("session/list", { cwd: agent.cwd, _meta: { hermes } });
    const sessions = list.result?.["sessions"] as readonly { sessionId: string }[] | undefined;
    return (sessions ?? []).map((session) => session.sessionId);
  };
  const found = async (worktrees: boolean): Promise<unknown> => {
    const search = { query: "read", cwd: agent.cwd, worktrees };
    return (await agent.request("_hermes/session/search", search)).result?.["hits"];
  };
  await expect.poll(() => listed({ worktrees: true })).toEqual([sessionId]);
  expect([await listed({}), await found(false)]).toEqual([[], []]);
  expect(await found(true)).toEqual([expect.objectContaining({ sessionId, cwd: path })]);
  const load = async (hermes: object, cwd = agent.cwd): Promise<readonly [unknown, boolean]> => {
    const loaded = await agent.request("session/load", { sessionId, cwd, mcpServers: [], _meta: { hermes } });
    const meta = loaded.result?.["_meta"] as { hermes?: { worktree?: string } } | undefined;
    return [meta?.hermes?.worktree, (await answer(sessionId, "/worktree")).includes("(here)")];
  };
  symlinkSync(agent.cwd, join(agent.home, "link"));
  for (const cwd of [agent.cwd, join(agent.home, "link")])
    expect(await load({ inWorktree: true }, cwd)).toEqual([path, true]);
  expect(await load({ inWorktree: true }, agent.home)).toEqual([undefined, false]);
  expect(await load({}, path)).toEqual([undefined, true]);
  const inFork = async (cwd = agent.cwd): Promise<string> => {
    const _meta = { hermes: { inWorktree: true } };
    const fork = await agent.request("session/fork", { sessionId, cwd, mcpServers: [], _meta });
    return answer(String(fork.result?.["sessionId"]), "/worktree");
  };
  expect(await inFork()).toContain("(here)");
  const elsewhere = await inFork(agent.home); // which is no repository of that worktree
  expect(elsewhere).not.toContain("(here)");
  expect(elsewhere).not.toContain("This session was in");
  await answer(sessionId, "/worktree discard confirm");
  expect((await agent.prompt(sessionId, "read a.txt")).error).toMatchObject({ data: { kind: "folder-gone" } });
  expect(await answer(sessionId, "/model")).toContain("offline");
  expect(await inFork()).toContain("There are no worktrees of sessions.");
  expect(await load({ inWorktree: true })).toEqual([undefined, false]);
  expect(await answer(sessionId, "read a.txt")).toContain("one");
});
