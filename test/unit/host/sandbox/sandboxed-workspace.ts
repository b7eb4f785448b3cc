/** Repositories, and commands in a sandbox around them, for the tests of the sandbox. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { confine } from "../../../../agent-core/approval/confinement.ts";
import { watchOf } from "../../../../agent-core/approval/sandbox-watch.ts";
import { childRunner } from "../../../../agent-core/host/terminals/child-runner.ts";
import { localBackend } from "../../../../agent-core/host/terminals/local-backend.ts";
import { findSandbox } from "../../../../agent-core/host/terminals/sandbox/find-sandbox.ts";
import { sandboxedBackend } from "../../../../agent-core/host/terminals/sandbox/sandboxed-backend.ts";
import { sessionTerminals } from "../../../../agent-core/host/terminals/session-terminals.ts";
import type { HostTerminals, RunningCommand, SandboxKind } from "../../../../agent-core/host/terminals/terminals.ts";
import { resolvePath } from "../../../../agent-core/platform/paths.ts";

/** Not a folder of temporary files, which the sandbox replaces. */
export const top = realpathSync(mkdtempSync(join(homedir(), "hermes-test-git-")));
export const home = realpathSync(mkdtempSync(join(tmpdir(), "hermes-user-home-")));
export const IDENTITY = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"];

/** A new folder for one test. */
export function newFolder(): string {
  // Another file of tests may have removed them.
  for (const path of [top, home]) mkdirSync(path, { recursive: true });
  return mkdtempSync(join(top, "case-"));
}

export function removeFolders(): void {
  for (const path of [top, home]) rmSync(path, { recursive: true, force: true });
}

export function git(cwd: string, ...args: string[]): string {
  const { stdout, stderr, status } = spawnSync("git", [...IDENTITY, ...args], { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
  return stdout;
}

/** A repository with one commit. */
export function repository(path: string): string {
  mkdirSync(path, { recursive: true });
  git(path, "init", "-q", "-b", "main");
  writeFileSync(join(path, "a.txt"), "a\n");
  git(path, "add", ".");
  git(path, "commit", "-qm", "one");
  return path;
}

export function terminalsOf(root: string): HostTerminals {
  const found = findSandbox();
  if (!found.ok) throw new Error(found.reason);
  const scope = { cwd: root, roots: [root], home, hermesHome: join(home, ".hermes"), resolvePath };
  const folders = { withheld: join(home, "withheld"), outputs: join(home, "outputs") };
  const backend = sandboxedBackend(localBackend(), {
    sandbox: found.sandbox,
    confine: (caches, command) => confine(scope, { ...folders, caches }, command),
    settle: () => watchOf(scope).settle(folders.withheld),
  });
  return sessionTerminals(backend, childRunner());
}

let outputs = 0;

export function start(
  terminals: HostTerminals,
  root: string,
  command: string,
  { keepsShell = true, sandbox = "isolated" }: { keepsShell?: boolean; sandbox?: SandboxKind } = {},
): Promise<RunningCommand> {
  const shell = { folder: root, variables: undefined };
  outputs += 1;
  const outputFile = join(home, `output-${outputs}.log`);
  const request = { command, shell, keepsShell, input: "none", pty: false, sandbox, outputFile } as const;
  return terminals.start(request, AbortSignal.timeout(120_000));
}

export async function run(terminals: HostTerminals, root: string, command: string) {
  const running = await start(terminals, root, command);
  const { exitCode } = await running.exit;
  const { head } = await running.output();
  const ran = { output: head, exitCode, notes: (await running.inspected()).join("\n") };
  await running.release();
  return ran;
}

export async function inSandbox(root: string, command: string) {
  const terminals = terminalsOf(root);
  try {
    const ran = await run(terminals, root, command);
    const notes = [ran.notes, ...((await terminals.endTurn?.()) ?? [])].join("\n");
    return { ...ran, notes };
  } finally {
    await terminals.dispose();
  }
}

/** Makes a commit, and prints the number of commits. */
export const commit = `echo b > made.txt && git add made.txt && git ${IDENTITY.join(" ")} commit -qm two && git log --oneline | wc -l`;
