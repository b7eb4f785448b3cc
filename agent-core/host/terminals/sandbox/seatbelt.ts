/** Profile of sandbox-exec, the sandbox of macOS. */
import type { Bind, SandboxedRun } from "./bwrap.ts";

/** Services that the system's libraries need: users, time zones, fonts, logs, certificates. */
const SERVICES = [
  "com.apple.system.opendirectoryd.libinfo",
  "com.apple.system.opendirectoryd.membership",
  "com.apple.system.notification_center",
  "com.apple.system.logger",
  "com.apple.logd",
  "com.apple.bsd.dirhelper",
  "com.apple.CoreServices.coreservicesd",
  "com.apple.trustd.agent",
  "com.apple.SecurityServer",
];
/** Services of the network. */
const NETWORK_SERVICES = ["com.apple.SystemConfiguration.configd", "com.apple.networkd", "com.apple.dnssd.service"];

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
    ...binds.flatMap(rules),
    "",
  ].join("\n");
}

function rules(bind: Bind): readonly string[] {
  const place = `(subpath ${quoted(bind.path)})`;
  switch (bind.kind) {
    case "writable":
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
  return `(global-name ${quoted(name)})`;
}

function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, "\\$&")}"`;
}
