/** Sandbox program of this machine: bwrap on Linux, sandbox-exec on macOS. */
import { execFile, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { findProgram } from "../../../platform/find-program.ts";
import { bwrapArguments, type SandboxedRun, seatbeltProfile } from "./sandboxed-run.ts";

export type Sandbox = {
  /** Absolute path of the sandbox's program. */
  readonly program: string;
  /** Arguments of the sandbox's program that run another program. */
  wrap(run: SandboxedRun, program: string, args: readonly string[]): readonly string[];
  /** True when a private folder replaces a folder at its own path; false: programs need its path. */
  readonly mounts: boolean;
};

export type FoundSandbox =
  | { readonly ok: true; readonly sandbox: Sandbox }
  /** Both are one sentence for people, without a final dot. */
  | { readonly ok: false; readonly reason: string; readonly advice: string };

/** Timeout of the test, which takes some 10 ms where the sandbox works. */
const TIMEOUT_MS = 20_000;
const SANDBOX_EXEC = "/usr/bin/sandbox-exec";

/** Results by PATH. */
const known = new Map<string, FoundSandbox>();

/** Tests the sandbox once for each PATH, by running a command in it. */
export function findSandbox(path: string = process.env["PATH"] ?? ""): FoundSandbox {
  const found = known.get(path) ?? tested(candidate(path));
  known.set(path, found);
  return found;
}

const preparing = new Map<string, Promise<void>>();

/** Runs the test of `findSandbox` beside other work, so that a session does not wait for it. Never rejects. */
export function prepareSandbox(path: string = process.env["PATH"] ?? ""): Promise<void> {
  const preparation = preparing.get(path) ?? prepare(path);
  preparing.set(path, preparation);
  return preparation;
}

async function prepare(path: string): Promise<void> {
  if (known.has(path)) return;
  const found = candidate(path);
  const result = found.ok ? judged(found, await trial(found)) : found;
  if (!known.has(path)) known.set(path, result);
}

function candidate(path: string): FoundSandbox {
  switch (process.platform) {
    case "linux": {
      const program = findProgram("bwrap", path);
      if (program !== undefined) return { ok: true, sandbox: { program, wrap: bwrapArguments, mounts: true } };
      const advice = "install bubblewrap with your package manager (for example: sudo apt install bubblewrap)";
      return { ok: false, reason: "bwrap is not installed", advice };
    }
    case "darwin": {
      const wrap: Sandbox["wrap"] = (run, program, args) => ["-p", seatbeltProfile(run), program, ...args];
      return existsSync(SANDBOX_EXEC)
        ? { ok: true, sandbox: { program: SANDBOX_EXEC, wrap, mounts: false } }
        : { ok: false, reason: `${SANDBOX_EXEC} is missing`, advice: "use a macOS that has it" };
    }
    default:
      return { ok: false, reason: "there is no sandbox for this system", advice: "use WSL, a container or Linux" };
  }
}

type Found = Extract<FoundSandbox, { readonly ok: true }>;
type Trial = { readonly status: number | null; readonly stderr: string; readonly error?: Error | undefined };

function tested(found: FoundSandbox): FoundSandbox {
  if (!found.ok) return found;
  const { program } = found.sandbox;
  return judged(found, spawnSync(program, trialArguments(found), { encoding: "utf8", timeout: TIMEOUT_MS }));
}

function trial(found: Found): Promise<Trial> {
  const options = { encoding: "utf8", timeout: TIMEOUT_MS } as const;
  return new Promise((resolve) => {
    execFile(found.sandbox.program, trialArguments(found), options, (error, _, stderr) => {
      const status = typeof error?.code === "number" ? error.code : null;
      if (error === null) resolve({ status: 0, stderr });
      else resolve({ status, stderr, error: status === null ? error : undefined });
    });
  });
}

function trialArguments({ sandbox }: Found): string[] {
  const run: SandboxedRun = { binds: [], folder: "/", outlivesShell: false, hasNetwork: false };
  return [...sandbox.wrap(run, "true", [])];
}

function judged(found: Found, { status, stderr, error }: Trial): FoundSandbox {
  if (status === 0) return found;
  const reason = error?.message ?? (stderr.trim().split("\n").at(-1) || `exit code ${status}`);
  return {
    ok: false,
    reason: `${found.sandbox.program} cannot create a sandbox on this machine (${reason})`,
    advice:
      "allow user namespaces: set kernel.unprivileged_userns_clone=1, on Ubuntu also kernel.apparmor_restrict_unprivileged_userns=0; in a container, start it with --security-opt seccomp=unconfined",
  };
}
