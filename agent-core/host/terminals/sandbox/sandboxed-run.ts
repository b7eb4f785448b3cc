/** A run in the sandbox, as the command line of bwrap (Linux) and as a profile of sandbox-exec (macOS). */
import { existsSync } from "node:fs";
import { release } from "node:os";
import { pathBelow } from "../../../platform/paths.ts";

/** View of one absolute path in the sandbox. A later bind covers an earlier one. */
export type Bind =
  /**
   * `from`: path outside that is mounted there; default: the same path. `names`: regular expression of the names in the
   * folder that alone are writable, also those that come later; a mount cannot know them, so only macOS' sandbox uses it.
   */
  | { readonly kind: "writable"; readonly path: string; readonly from?: string; readonly names?: string }
  /** `connects`: programs may connect to sockets in it. `from`: as above, on Linux alone. */
  | { readonly kind: "read-only"; readonly path: string; readonly connects?: true; readonly from?: string }
  /** The sandbox sees an empty folder or file, which it cannot change. */
  | { readonly kind: "hidden"; readonly path: string; readonly what: "folder" | "file" }
  /** Symbolic link outside. The sandbox sees it also where its folder is hidden. */
  | { readonly kind: "link"; readonly path: string; readonly target: string };

export type SandboxedRun = {
  readonly binds: readonly Bind[];
  /** Absolute path that the program starts in. */
  readonly folder: string;
  /** True when background processes continue after the shell's end. */
  readonly outlivesShell: boolean;
  /** True when the program may use the network of this machine. */
  readonly hasNetwork: boolean;
};

/** Folder of the sockets of programs outside: key agents, message buses, container engines. */
const SOCKETS = "/run";
/** Subfolders that programs of some systems need, and the targets of `/etc/resolv.conf`. */
const NEEDED = ["/run/current-system", "/run/wrappers", "/run/opengl-driver"];
const RESOLVERS = ["/run/systemd/resolve", "/run/NetworkManager", "/run/resolvconf"];

/** Settings of the whole machine. A new /proc has them, and root may write them even without capabilities. */
const KERNEL = ["/proc/sys", "/proc/sysrq-trigger", "/proc/acpi", "/proc/scsi"].filter((path) => existsSync(path));

/** Processes and threads of a command: more than builds and browsers need, fewer than hold up a machine. */
const MAX_PROCESSES = 2_048;
/** Older kernels count all processes of the user, and not those of the sandbox alone. The kernel never limits root. */
const LIMITS_SANDBOXES = [5, 14] as const;
/** The option is -u in bash, and -p in dash and busybox. */
const LIMITED = `ulimit -u ${MAX_PROCESSES} 2>/dev/null || ulimit -p ${MAX_PROCESSES} 2>/dev/null; exec "$@"`;

/**
 * Arguments of bwrap that run `program` in a sandbox. The program can read everything that is not hidden, with a new /dev
 * and /proc. All capabilities are dropped, so even root has no rights over the machine.
 */
export function bwrapArguments(run: SandboxedRun, program: string, args: readonly string[]): readonly string[] {
  return [
    ...["--cap-drop", "ALL", "--unshare-all", "--new-session"],
    ...(run.hasNetwork ? ["--share-net"] : []),
    ...(run.outlivesShell ? [] : ["--die-with-parent"]),
    ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
    ...KERNEL.flatMap((path) => ["--ro-bind", path, path]),
    ...(existsSync(SOCKETS) ? ["--tmpfs", SOCKETS] : []),
    ...[...NEEDED, ...(run.hasNetwork ? RESOLVERS : [])]
      .filter((path) => existsSync(path))
      .flatMap((path) => ["--ro-bind", path, path]),
    ...run.binds.flatMap((bind) => bindArguments(bind, run.binds)),
    ...run.binds.flatMap((bind, index) => (isLeftEmpty(bind, run.binds.slice(index + 1)) ? remount(bind) : [])),
    ...["--chdir", run.folder, "--", ...(limitsSandboxes() ? ["/bin/sh", "-c", LIMITED, "sh"] : []), program, ...args],
  ];
}

function limitsSandboxes(): boolean {
  const [major = 0, minor = 0] = release()
    .split(".")
    .map((part) => Number.parseInt(part, 10));
  return major > LIMITS_SANDBOXES[0] || (major === LIMITS_SANDBOXES[0] && minor >= LIMITS_SANDBOXES[1]);
}

function bindArguments(bind: Bind, all: readonly Bind[]): readonly string[] {
  const { kind, path } = bind;
  switch (kind) {
    case "writable":
      return ["--bind", bind.from ?? path, path];
    case "read-only":
      return ["--ro-bind", bind.from ?? path, path];
    case "hidden":
      return bind.what === "folder" ? ["--tmpfs", path] : ["--ro-bind", "/dev/null", path];
    case "link":
      return placeOf(path, all)?.kind === "hidden" ? ["--symlink", bind.target, path] : [];
  }
}

/** Innermost mount that has the path. */
export function placeOf(path: string, binds: readonly Bind[]): Exclude<Bind, { kind: "link" }> | undefined {
  return binds
    .filter((bind) => bind.kind !== "link")
    .filter((bind) => Boolean(pathBelow(bind.path, path)))
    .reduce<Exclude<Bind, { kind: "link" }> | undefined>(
      (inner, bind) => (inner === undefined || bind.path.length >= inner.path.length ? bind : inner),
      undefined,
    );
}

/** Writing into an empty folder must fail; a program would lose what it writes there. */
function isLeftEmpty(bind: Bind, later: readonly Bind[]): boolean {
  return bind.kind === "hidden" && bind.what === "folder" && later.every(({ path }) => path !== bind.path);
}

function remount({ path }: Bind): readonly string[] {
  return ["--remount-ro", path];
}

/** Services that macOS' libraries need: users, time zones, fonts, logs, certificates. */
const SERVICES = [
  "system.opendirectoryd.libinfo system.opendirectoryd.membership system.notification_center system.logger logd",
  "bsd.dirhelper CoreServices.coreservicesd trustd.agent SecurityServer",
].flatMap((line) => line.split(" "));
const NETWORK_SERVICES = ["SystemConfiguration.configd", "networkd", "dnssd.service"];

const DEVICES = "/dev/(?:null|zero|tty|ptmx|stdout|stderr|dtracehelper|fd/[0-9]+|ttys[0-9]+)";

/**
 * Profile that does what the binds say: of two rules for a path, the later one holds. A profile cannot mount a folder at
 * another path, so a private folder (`from`) is writable where it is. All paths are real paths.
 */
export function seatbeltProfile({ binds, hasNetwork }: SandboxedRun): string {
  return [
    "(version 1)",
    "(deny default)",
    "(allow process-exec process-fork)",
    "(allow process-info* signal (target same-sandbox))",
    "(allow sysctl-read file-ioctl ipc-posix-sem ipc-posix-shm pseudo-tty user-preference-read)",
    `(allow mach-lookup ${[...SERVICES, ...(hasNetwork ? NETWORK_SERVICES : [])].map(service).join(" ")})`,
    "(allow file-read*)",
    `(allow file-write* (regex #"^${DEVICES}$"))`,
    ...(hasNetwork ? ["(allow network*)", "(allow system-socket)"] : []),
    // The sockets of key agents and container engines are files.
    ...(hasNetwork ? ['(deny network* (remote unix-socket (subpath "/private/var/run")))'] : []),
    ...binds.flatMap(profileRules),
    "",
  ].join("\n");
}

function profileRules(bind: Bind): readonly string[] {
  const place = `(subpath ${quoted(bind.path)})`;
  switch (bind.kind) {
    case "writable":
      if (bind.names !== undefined) {
        return [
          `(allow file-read* ${place})`,
          `(deny file-write* ${place})`,
          `(allow file-write* (regex #"^${pattern(bind.path)}/${bind.names}(?:/|$)"))`,
        ];
      }
      if (bind.from !== undefined) return [`(allow file-read* file-write* (subpath ${quoted(bind.from)}))`];
      return [`(allow file-read* file-write* ${place})`];
    case "read-only":
      return [
        `(allow file-read* ${place})`,
        `(deny file-write* ${place})`,
        ...(bind.connects ? [`(allow network-outbound (remote unix-socket ${place}))`, "(allow system-socket)"] : []),
      ];
    case "hidden":
      // Programs may look up the names of parent folders.
      return [`(deny file-read* file-write* ${place})`, `(allow file-read-metadata (literal ${quoted(bind.path)}))`];
    case "link":
      return [`(allow file-read* (literal ${quoted(bind.path)}))`];
  }
}

function service(name: string): string {
  return `(global-name ${quoted(`com.apple.${name}`)})`;
}

/** A regular expression of the profile ends at a quote; any one character stands for it. */
function pattern(path: string): string {
  return path.replace(/["\\]/g, ".").replace(/[.^$*+?()[\]{}|]/g, (each) => (each === "." ? each : `[${each}]`));
}

function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, "\\$&")}"`;
}
