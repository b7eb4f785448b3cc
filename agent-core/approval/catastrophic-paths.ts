/** Paths whose loss ends a machine or takes all that a person has: system folders, homes, raw devices. */
import { dirname } from "node:path";
import { pathRules } from "../platform/paths.ts";
import { type CommandScope, homeOf, partsBelow } from "./command-scope.ts";

const SYSTEM_FOLDERS = new Set(
  [
    "/bin /boot /dev /etc /home /lib /lib32 /lib64 /media /mnt /opt /proc /root /run /sbin /snap /srv /sys /usr /var",
    "/usr/bin /usr/lib /usr/lib64 /usr/local /usr/sbin /usr/share /var/lib /var/log",
    "/System /Library /Applications /Users /Volumes /private /private/etc /private/var",
    "/c /d /mnt/c /mnt/c/Users /mnt/c/Windows",
  ].flatMap((line) => line.split(" ")),
);
const SYSTEM_OF_WINDOWS = /^[a-z]:\\(?:windows(?:\\system32)?|users|program files(?: \(x86\))?|programdata)$/i;
/** A last part that matches nearly every name: `*`, `.*`, `?*`, `*.*`, `[!x]*`. */
const ALL = /^(?=.*[*?[])(?:[*?.]|\[[^\]]*\])+$/;

/**
 * Name of the catastrophe when `path` (absolute, a pattern when `glob`) is deleted with everything below it; undefined
 * when it is none.
 */
export function catastrophicReason(path: string, glob: boolean, scope: CommandScope): string | undefined {
  const written = pathRules(path)
    .normalize(path)
    .replace(/(?<=[^:])[\\/]+$/, "");
  const targets = new Set([written, scope.resolvePath(glob ? dirname(written) : written)]);
  if (!glob) return [...targets].map((target) => wholeOf(target, scope)).find((reason) => reason !== undefined);
  const folder = dirname(written);
  // A pattern directly below the root matches a system folder.
  if (folder === "/") return "the whole disk";
  if (!ALL.test(written.slice(written.lastIndexOf("/") + 1))) return undefined;
  return wholeOf(folder, scope) ?? wholeOf(scope.resolvePath(folder), scope);
}

function wholeOf(path: string, scope: CommandScope): string | undefined {
  if (path === pathRules(path).parse(path).root) return "the whole disk";
  if (SYSTEM_FOLDERS.has(path) || SYSTEM_OF_WINDOWS.test(path)) return `the system folder ${path}`;
  for (const home of [scope.home, homeOf(scope)]) {
    if (partsBelow(path, home) !== undefined) return "your home folder";
  }
  if (/^(?:\/home|(?:[a-z]:)?[\\/]users)[\\/][^\\/]+$/i.test(path)) return "a home folder";
  return undefined;
}

const HARMLESS = /^\/dev\/(?:null|zero|full|tty|ptmx|stdin|stdout|stderr|random|urandom|fd\/\d+|pts\/\d+)$/;
const RAW =
  /^\/dev\/(?:sd[a-z]|hd[a-z]|vd[a-z]|xvd[a-z]|nvme\d|mmcblk\d|r?disk\d?|dm-\d|md\d|loop\d|sr\d|ram\d|nbd\d|zd\d|mtd|mapper\/|disk\/|block\/|mem$|kmem$|port$|nvram$)/;
const RAW_FRAGMENT = /^\/dev\/(?:[shv]d|xvd|nvme|mmcblk|r?disk|mapper)/;
const SYSRQ = /^\/proc\/(?:sysrq-trigger|kcore|kmem)$|^\/sys\/power\/(?:state|disk)$/;
const NETWORK = /^\/dev\/(?:tcp|udp)\//;

export type Device = "harmless" | "raw" | "power" | "network";

/** Kind of device that `path` (absolute) names; undefined for an ordinary file. A pattern that may name a disk is `raw`. */
export function deviceOf(path: string): Device | undefined {
  if (HARMLESS.test(path)) return "harmless";
  if (RAW.test(path) || (/[*?[]/.test(path) && RAW_FRAGMENT.test(path))) return "raw";
  if (SYSRQ.test(path)) return "power";
  return NETWORK.test(path) ? "network" : undefined;
}
