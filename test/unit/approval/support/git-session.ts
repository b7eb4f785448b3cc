/** A workspace with git whose commands are judged and run as those of a session, and repositories for it. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";
import { confine } from "../../../../agent-core/approval/confinement.ts";
import type { ApprovalMode, Decision } from "../../../../agent-core/approval/decision.ts";
import { guardedLine } from "../../../../agent-core/approval/git-guard.ts";
import { Grants } from "../../../../agent-core/approval/grants.ts";
import { decide } from "../../../../agent-core/approval/policy.ts";
import { childRunner } from "../../../../agent-core/host/terminals/child-runner.ts";
import { localBackend } from "../../../../agent-core/host/terminals/local-backend.ts";
import { findSandbox } from "../../../../agent-core/host/terminals/sandbox/find-sandbox.ts";
import { sandboxedBackend } from "../../../../agent-core/host/terminals/sandbox/sandboxed-backend.ts";
import type { SandboxedRun } from "../../../../agent-core/host/terminals/sandbox/sandboxed-run.ts";
import { sessionTerminals } from "../../../../agent-core/host/terminals/session-terminals.ts";
import { resolvePath } from "../../../../agent-core/platform/paths.ts";
import { branches, commit, git, newFolder, write } from "../../../support/git-repositories.ts";

const ended: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

type Ran = { readonly output: string; readonly exitCode: number | null; readonly notes: readonly string[] };

/** A workspace whose commands are judged and run as those of a session. */
export function session(root: string, mounts = true) {
  const home = mkdtempSync(join(tmpdir(), "hermes-user-home-"));
  const scope = { cwd: root, roots: [root], home, hermesHome: join(home, ".hermes"), resolvePath };
  const found = findSandbox();
  if (!found.ok) throw new Error(found.reason);
  const folders = { withheld: join(home, "withheld"), outputs: join(home, "outputs") };
  // As the sandbox of macOS: it makes paths read-only, and puts no other file at the place of git.
  const withoutGuard = (run: SandboxedRun): SandboxedRun => ({
    ...run,
    binds: run.binds.filter((bind) => bind.kind !== "read-only" || !/\/git$/.test(bind.path)),
  });
  const { program, wrap } = found.sandbox;
  const backend = sandboxedBackend(localBackend(), {
    sandbox: mounts ? found.sandbox : { program, mounts, wrap: (run, ...line) => wrap(withoutGuard(run), ...line) },
    confine: (caches, command) => confine(scope, { ...folders, caches }, command),
    guardGit: (caches, command, writable) => Promise.resolve(guardedLine(command, caches, scope, writable)),
  });
  const terminals = sessionTerminals(backend, childRunner());
  ended.push(() => terminals.dispose());
  const grants = new Grants(join(home, "grants.json"), () => undefined);
  return {
    judge: (command: string, mode: ApprovalMode = "code", cwd = root): Decision =>
      decide({ kind: "command", command, cwd }, { mode, scope, trusted: true, grants, sandbox: true }),
    /** Runs a command as its decision says; a question counts as answered. */
    async run(command: string, cwd = root): Promise<Ran> {
      const { sandbox, writable } = this.judge(command, "code", cwd);
      const shell = { folder: cwd, variables: undefined };
      const outputFile = join(home, "output.log");
      const request = {
        command,
        shell,
        keepsShell: true,
        input: "none",
        pty: false,
        sandbox,
        writable,
        outputFile,
      } as const;
      const running = await terminals.start(request, AbortSignal.timeout(120_000));
      const { exitCode } = await running.exit;
      const { head } = await running.output();
      const ran = { output: head, exitCode, notes: await running.inspected() };
      await running.release();
      return ran;
    },
  };
}

export function repository(): string {
  const folder = newFolder();
  branches(folder);
  return folder;
}

/** A clone of a repository on this machine; its remote has more commits than the clone. */
export function clone(files: Readonly<Record<string, string>>): string {
  const base = newFolder();
  const from = join(base, "from");
  write(from, {});
  git(base, "init", "-q", "from");
  branches(from);
  git(base, "clone", "-q", "from", "to");
  commit(from, "later", files);
  git(from, "update-ref", "refs/pull/12/head", "other");
  return join(base, "to");
}
