/** Cost of the sandbox: the same command inside and outside, one after the other, in workspaces of several sizes. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { confine } from "../../agent-core/approval/confinement.ts";
import { childRunner } from "../../agent-core/host/terminals/child-runner.ts";
import { localBackend } from "../../agent-core/host/terminals/local-backend.ts";
import { findSandbox } from "../../agent-core/host/terminals/sandbox/find-sandbox.ts";
import { sandboxedBackend } from "../../agent-core/host/terminals/sandbox/sandboxed-backend.ts";
import { sessionTerminals } from "../../agent-core/host/terminals/session-terminals.ts";
import type { HostTerminals, SandboxKind } from "../../agent-core/host/terminals/terminals.ts";
import { resolvePath } from "../../agent-core/platform/paths.ts";
import { median, type Row } from "./measuring.ts";

const ROUNDS = 40;

export async function measureSandbox(): Promise<readonly Row[]> {
  const own = realpathSync(mkdtempSync(join(tmpdir(), "hermes-bench-")));
  const roots: string[] = [];
  try {
    const rows: Row[] = [];
    for (const { name, files, target } of WORKSPACES) {
      const root = files === undefined ? process.cwd() : workspaceOf(files);
      if (files !== undefined) roots.push(root);
      const extra = await extraTime(root, own);
      if (extra === undefined) return [];
      rows.push({ what: `sandboxed command in ${name}, beyond a bare one`, ours: extra, target, unit: "ms" });
    }
    return rows;
  } finally {
    for (const folder of [own, ...roots]) rmSync(folder, { recursive: true, force: true });
  }
}

const WORKSPACES = [
  { name: "an empty folder", files: 0, target: 15 },
  { name: "a repository of 5,000 files", files: 5_000, target: 25 },
  { name: "one of 100,000 files", files: 100_000, target: 150 },
  { name: "this repository", files: undefined, target: 25 },
];

/** A repository with ten files in each folder. */
function workspaceOf(files: number): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "hermes-bench-")));
  spawnSync("git", ["init", "-q", root]);
  for (let at = 0; at < files; at += 1) {
    const number = Math.floor(at / 10);
    const folder = join(root, `${number % 100}`, `${number}`);
    if (at % 10 === 0) mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${at % 10}.ts`), "x\n");
  }
  return root;
}

/** Milliseconds; undefined on a machine without a sandbox. */
async function extraTime(root: string, own: string): Promise<number | undefined> {
  const found = findSandbox();
  if (!found.ok) return undefined;
  const scope = { cwd: root, roots: [root], home: homedir(), hermesHome: own, resolvePath };
  const folders = { withheld: join(own, "withheld"), outputs: join(own, "outputs") };
  const backend = sandboxedBackend(localBackend(), {
    sandbox: found.sandbox,
    confine: (caches, command) => confine(scope, { ...folders, caches }, command),
  });
  const terminals = sessionTerminals(backend, childRunner());
  const [bare, sandboxed]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    bare.push(await run(terminals, root, undefined));
    sandboxed.push(await run(terminals, root, "isolated"));
  }
  await terminals.dispose();
  return median(sandboxed) - median(bare);
}

async function run(terminals: HostTerminals, folder: string, sandbox: SandboxKind | undefined): Promise<number> {
  const begin = performance.now();
  const shell = { folder, variables: undefined };
  const outputFile = join(tmpdir(), `hermes-bench-${process.pid}.log`);
  const request = { command: "true", shell, keepsShell: true, input: "none", pty: false, sandbox, outputFile } as const;
  const running = await terminals.start(request, AbortSignal.timeout(20_000));
  await running.exit;
  await running.shellAfter();
  const elapsed = performance.now() - begin;
  await running.release();
  rmSync(outputFile, { force: true });
  return elapsed;
}
