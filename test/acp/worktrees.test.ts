// A worktree from its start to its end, as a client of the protocol drives it.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
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
