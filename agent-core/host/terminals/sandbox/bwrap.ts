/** The command line of bwrap that puts a program into a sandbox: read-only, without network, with few files writable. */
import { existsSync } from "node:fs";

/** One place of the file system as a command in the sandbox finds it; `path` is absolute. Later ones lie over earlier. */
export type Bind =
  /** `from`: what stands there instead; default the place itself. */
  | { readonly kind: "writable"; readonly path: string; readonly from?: string }
  | { readonly kind: "read-only"; readonly path: string }
  /** An empty folder or file. */
  | { readonly kind: "hidden"; readonly path: string; readonly what: "folder" | "file" };

export type SandboxedRun = {
  readonly binds: readonly Bind[];
  /** Where it starts, absolute. */
  readonly folder: string;
  /** What it leaves running goes on when the shell itself has ended. */
  readonly outlivesShell: boolean;
};

/** Sockets through which programs outside can be reached live here: agents of keys, message buses, container engines. */
const SOCKETS = "/run";
/** What some systems keep below it that programs need. */
const NEEDED = ["/run/current-system", "/run/wrappers", "/run/opengl-driver"];

/** Settings of the whole machine, which a root without capabilities may still write: a new /proc has them, too. */
const KERNEL = ["/proc/sys", "/proc/sysrq-trigger", "/proc/acpi", "/proc/scsi"];

/**
 * `program` with `args` in a sandbox. Everything is there to be read but what is hidden, /dev and /proc are new. As
 * root, too, it has no rights over the machine: all capabilities are dropped.
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
