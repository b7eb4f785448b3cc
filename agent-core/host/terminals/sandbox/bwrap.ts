/** Command line of bwrap for a sandbox without network, in which few files are writable; and a test of bwrap itself. */

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { findProgram } from "../../find-program.ts";

/** View of one absolute path in the sandbox. A later bind covers an earlier one. */
export type Bind =
  /** `from`: path outside that is mounted there; default: the same path. */
  | { readonly kind: "writable"; readonly path: string; readonly from?: string }
  | { readonly kind: "read-only"; readonly path: string }
  /** The sandbox sees an empty folder or file. */
  | { readonly kind: "hidden"; readonly path: string; readonly what: "folder" | "file" };

export type SandboxedRun = {
  readonly binds: readonly Bind[];
  /** Absolute path that the program starts in. */
  readonly folder: string;
  /** True when background processes continue after the shell's end. */
  readonly outlivesShell: boolean;
};

export type SandboxProgram =
  | { readonly ok: true; readonly bwrap: string }
  /** `problem` is one sentence for people. */
  | { readonly ok: false; readonly problem: string };

/** Timeout of the test, which takes some 10 ms where bwrap works. */
const TIMEOUT_MS = 20_000;
/** Folder of the sockets of programs outside: key agents, message buses, container engines. */
const SOCKETS = "/run";
/** Subfolders that programs of some systems need. */
const NEEDED = ["/run/current-system", "/run/wrappers", "/run/opengl-driver"];

/** Settings of the whole machine. A new /proc has them, and root may write them even without capabilities. */
const KERNEL = ["/proc/sys", "/proc/sysrq-trigger", "/proc/acpi", "/proc/scsi"];

/** Results by PATH. */
const known = new Map<string, SandboxProgram>();

/**
 * Arguments of bwrap that run `program` in a sandbox. The program can read everything that is not hidden, with a new /dev
 * and /proc. All capabilities are dropped, so even root has no rights over the machine.
 */
export function bwrapArguments(run: SandboxedRun, program: string, args: readonly string[]): readonly string[] {
  return [
    ...["--cap-drop", "ALL", "--unshare-all", "--new-session"],
    ...(run.outlivesShell ? [] : ["--die-with-parent"]),
    ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
    ...KERNEL.flatMap((path) => ["--ro-bind-try", path, path]),
    ...(existsSync(SOCKETS) ? ["--tmpfs", SOCKETS] : []),
    ...NEEDED.flatMap((path) => ["--ro-bind-try", path, path]),
    ...run.binds.flatMap(bindArguments),
    ...["--chdir", run.folder, "--", program, ...args],
  ];
}

function bindArguments(bind: Bind): readonly string[] {
  const { kind, path } = bind;
  switch (kind) {
    case "writable":
      return ["--bind", bind.from ?? path, path];
    case "read-only":
      return ["--ro-bind", path, path];
    case "hidden":
      return bind.what === "folder" ? ["--tmpfs", path] : ["--ro-bind", "/dev/null", path];
  }
}

/** Tests a sandbox once for each PATH, by running a command in it. */
export function findSandbox(path: string = process.env["PATH"] ?? ""): SandboxProgram {
  const found = known.get(path) ?? testSandbox(path);
  known.set(path, found);
  return found;
}

function testSandbox(path: string): SandboxProgram {
  if (process.platform !== "linux") return { ok: false, problem: "the sandbox works on Linux only" };
  const bwrap = findProgram("bwrap", path);
  if (bwrap === undefined) return { ok: false, problem: "bwrap is not installed (package bubblewrap)" };
  const args = bwrapArguments({ binds: [], folder: "/", outlivesShell: false }, "true", []);
  const { status, stderr, error } = spawnSync(bwrap, args, { encoding: "utf8", timeout: TIMEOUT_MS });
  if (status === 0) return { ok: true, bwrap };
  const reason = error?.message ?? (stderr.trim().split("\n").at(-1) || `exit code ${status}`);
  return { ok: false, problem: `bwrap cannot create namespaces on this machine (${reason})` };
}
