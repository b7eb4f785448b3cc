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
