/** Whether commands can be put into a sandbox on this machine: found out by putting one into it. */
import { spawnSync } from "node:child_process";
import { findProgram } from "../../find-program.ts";
import { bwrapArguments } from "./bwrap.ts";

/** What hangs is given up after this; it takes some 10 ms where it works. */
const TIMEOUT_MS = 20_000;

export type SandboxProgram =
  | { readonly ok: true; readonly bwrap: string }
  /** One sentence for people. */
  | { readonly ok: false; readonly problem: string };

const known = new Map<string, SandboxProgram>();

/** Looks once for each PATH in the life of a process. Takes some 10 ms. */
export function findSandbox(path: string = process.env["PATH"] ?? ""): SandboxProgram {
  const found = known.get(path) ?? look(path);
  known.set(path, found);
  return found;
}

function look(path: string): SandboxProgram {
  if (process.platform !== "linux") return { ok: false, problem: "the sandbox works on Linux only" };
  const bwrap = findProgram("bwrap", path);
  if (bwrap === undefined) return { ok: false, problem: "bwrap is not installed (package bubblewrap)" };
  const args = bwrapArguments({ binds: [], folder: "/", outlivesShell: false }, "true", []);
  const { status, stderr, error } = spawnSync(bwrap, args, { encoding: "utf8", timeout: TIMEOUT_MS });
  if (status === 0) return { ok: true, bwrap };
  const reason = error?.message ?? (stderr.trim().split("\n").at(-1) || `exit code ${status}`);
  return { ok: false, problem: `bwrap makes no namespaces on this machine (${reason})` };
}
