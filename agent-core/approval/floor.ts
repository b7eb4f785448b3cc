/** The floor: folders whose loss is the loss of the machine or of all that a person has. */
import { dirname, normalize } from "node:path";
import { homeOf, partsBelow } from "./places.ts";
import type { CommandScope } from "./scope.ts";

const SYSTEM_FOLDERS = new Set(
  [
    "/bin /boot /dev /etc /home /lib /lib32 /lib64 /media /mnt /opt /proc /root /run /sbin /snap /srv /sys /usr /var",
    "/usr/bin /usr/lib /usr/lib64 /usr/local /usr/sbin /usr/share /var/lib /var/log",
    "/System /Library /Applications /Users /Volumes /private /private/etc /private/var",
    "/c /d /mnt/c /mnt/c/Users /mnt/c/Windows",
  ].flatMap((line) => line.split(" ")),
);
/** A last part that matches all or nearly all there is: `*`, `.*`, `?*`, `*.*`, `[!x]*`. */
const ALL = /^(?=.*[*?[])(?:[*?.]|\[[^\]]*\])+$/;

/**
 * What would be wiped when `path` (absolute, may be a pattern when `glob`) goes with all that is below it; undefined
 * when it is not catastrophic.
 */
export function wipes(path: string, glob: boolean, scope: CommandScope): string | undefined {
  const written = normalize(path).replace(/(?<=.)\/+$/, "");
  const targets = new Set([written, scope.resolvePath(glob ? dirname(written) : written)]);
  if (!glob) return firstOf(targets, (target) => wholeOf(target, scope));
  const folder = dirname(written);
  // Whatever a pattern matches directly below the root is a system folder.
  if (folder === "/") return "the whole disk";
  if (!ALL.test(written.slice(written.lastIndexOf("/") + 1))) return undefined;
  return wholeOf(folder, scope) ?? wholeOf(scope.resolvePath(folder), scope);
}

function wholeOf(path: string, scope: CommandScope): string | undefined {
  if (path === "/") return "the whole disk";
  if (SYSTEM_FOLDERS.has(path)) return `the system folder ${path}`;
  for (const home of [scope.home, homeOf(scope)]) {
    if (partsBelow(path, home) !== undefined) return "your home folder";
  }
  if (/^\/(?:home|Users)\/[^/]+$/.test(path)) return "a home folder";
  return undefined;
}

function firstOf(targets: ReadonlySet<string>, reason: (target: string) => string | undefined): string | undefined {
  for (const target of targets) {
    const found = reason(target);
    if (found !== undefined) return found;
  }
  return undefined;
}
