/**
 * A private layer over a folder: its files show through, and what a program writes goes to the layer. The kernel mounts it
 * in a user namespace of its own; bwrap can do so itself only from version 0.11 on.
 */
import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join, relative } from "node:path";
import { promisify } from "node:util";

/** Absolute paths. `base` shows through without `hidden`, as the folder of a layer `below` does. `folder`: the layer's own. */
export type Layer = {
  readonly base: string;
  readonly hidden: readonly string[];
  readonly folder: string;
  readonly below?: string;
};

/** The kernel leaves a folder in `work` that nobody but root may read, and so remove. */
const MOUNT = `set -e
mount -t overlay overlay -o "userxattr,lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/merged"
chmod 700 "$2/work/work"
shift 2
while [ "$1" != -- ]; do rm -rf "$1"; shift; done
shift
exec "$@"`;

/** Answers of the kernel by the folder that shows through. */
const mountable = new Map<string, Promise<boolean>>();

/** Undefined where this machine mounts none: on macOS, and on Linux systems that keep user namespaces from programs. */
export async function layerOver(layer: Layer): Promise<Layer | undefined> {
  if (process.platform !== "linux") return undefined;
  const { base, folder, below = folder } = layer;
  const folders = [join(below, "upper"), ...["upper", "work", "merged"].map((part) => join(folder, part))];
  for (const each of folders) mkdirSync(each, { recursive: true, mode: 0o700 });
  const answer = mountable.get(base) ?? mounts(layer);
  mountable.set(base, answer);
  return (await answer) ? layer : undefined;
}

function mounts(layer: Layer): Promise<boolean> {
  const trial = promisify(execFile)("unshare", mountArguments(layer, "true", []), { timeout: 5_000 });
  return trial.then(
    () => true,
    () => false,
  );
}

/** Place of `path` (absolute, below the base) while the layer is mounted. */
export function placeIn({ base, folder }: Layer, path: string): string {
  return join(folder, "merged", relative(base, path));
}

/** Arguments of `unshare` that mount the layer, and run bwrap as the same user in it. */
export function mountArguments(layer: Layer, bwrap: string, args: readonly string[]): readonly string[] {
  const { base, hidden, folder, below } = layer;
  const lower = below === undefined ? base : `${join(below, "upper")}:${base}`;
  const removed = hidden.map((path) => placeIn(layer, path));
  const user = ["--unshare-user", "--uid", String(process.getuid?.()), "--gid", String(process.getgid?.())];
  return ["-Umr", "sh", "-c", MOUNT, "sh", lower, folder, ...removed, "--", bwrap, ...user, ...args];
}
