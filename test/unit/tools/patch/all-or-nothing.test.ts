import {
  chmodSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { FileFailure, FileWritten, HostFiles, WriteReview } from "../../../../agent-core/host/host.ts";
import { tool } from "../../../../agent-core/tools/patch.ts";
import { toolBench } from "../../../support/tool-context.ts";
import { type Random, seeded } from "../../approval/support/random.ts";

const FAILED: FileFailure = { ok: false, reason: "failed", message: "The disk is full." };

/** The same files, but change number `failing` (from 0) does not come about. */
function failingFiles(files: HostFiles, failing: number, fail: () => Promise<FileFailure>): HostFiles {
  let changes = 0;
  const orFail = <Result>(change: () => Promise<Result>): Promise<Result | FileFailure> =>
    changes++ === failing ? fail() : change();
  return {
    ...files,
    guardedWrite: (write, signal) =>
      write.purpose === "revert" ? files.guardedWrite(write, signal) : orFail(() => files.guardedWrite(write, signal)),
    rename: (...call) => orFail(() => files.rename(...call)),
  };
}

/** Every name with what makes it what it is: bytes, permissions, where a link leads. */
function snapshot(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (name) => !isFolder(join(folder, name)),
  );
  return Object.fromEntries(names.sort(compare).map((name) => [name, entryOf(join(folder, name))]));
}

const compare = (one: string, other: string): number => (one < other ? -1 : 1);
const isFolder = (path: string): boolean => lstatSync(path).isDirectory();

function entryOf(path: string): string {
  if (lstatSync(path).isSymbolicLink()) return `-> ${readlinkSync(path)}`;
  return `${(statSync(path).mode & 0o777).toString(8)} ${readFileSync(path, "latin1")}`;
}

const PATCH = [
  ...["*** Add File: new/d.txt", "+four"],
  ...["*** Update File: a.txt", "-one", "+ONE"],
  ...["*** Update File: b.txt", "*** Move to: c/b.txt", "-two", "+TWO"],
  ...["*** Delete File: e.txt"],
  ...["*** Delete File: link.txt"],
  ...["*** Delete File: f.txt"],
].join("\n");

function workspace() {
  const bench = toolBench();
  for (const [name, text] of Object.entries({
    "a.txt": "one\r\n",
    "b.txt": "two",
    "e.txt": "\ufeffe\n",
    "f.txt": "f\n",
    "kept.txt": "k",
  })) {
    writeFileSync(join(bench.folder, name), text);
  }
  chmodSync(join(bench.folder, "e.txt"), 0o751);
  symlinkSync("kept.txt", join(bench.folder, "link.txt"));
  return bench;
}

async function run(bench: ReturnType<typeof toolBench>, files: HostFiles, patch = PATCH) {
  const context = { ...bench.context, host: { ...bench.context.host, files } };
  const prepared = tool.prepare({ mode: "patch", patch }, bench.folder);
  if (!prepared.ok) throw new Error(prepared.text);
  const staged = await prepared.call.stage(context);
  if (!staged.ok) throw new Error(staged.text);
  return staged.run();
}

test.each([0, 1, 2, 3, 4, 5, 6])("when change %i fails, every file is as it was", async (failing) => {
  const bench = workspace();
  const before = snapshot(bench.folder);
  const files = failingFiles(bench.context.host.files, failing, () => Promise.resolve(FAILED));
  const result = await run(bench, files);
  expect(result.text).toBe("patch: The disk is full. Everything else of the call was reverted; no file is changed.");
  expect(snapshot(bench.folder)).toEqual(before);
});

test.each([0, 1, 2, 3, 4, 5, 6])(
  "when the turn is cancelled at change %i, every file is as it was",
  async (failing) => {
    const bench = workspace();
    const before = snapshot(bench.folder);
    const files = failingFiles(bench.context.host.files, failing, () => Promise.reject(new Error("cancelled")));
    await expect(run(bench, files)).rejects.toThrow("cancelled");
    expect(snapshot(bench.folder)).toEqual(before);
  },
);

test.each([0, 1, 2, 3, 4, 5])(
  "when only the answer to change %i is lost, its file gets its text back, too",
  async (failing) => {
    const bench = workspace();
    const before = snapshot(bench.folder);
    const { files } = bench.context.host;
    let changes = 0;
    const orLost = async <Result>(change: Promise<Result>): Promise<Result> => {
      const isLost = changes++ === failing;
      const result = await change;
      if (isLost) throw new Error("The connection is gone.");
      return result;
    };
    const forgetful: HostFiles = {
      ...files,
      guardedWrite: (write, signal) =>
        write.purpose === "revert" ? files.guardedWrite(write, signal) : orLost(files.guardedWrite(write, signal)),
      rename: (...call) => orLost(files.rename(...call)),
    };
    await expect(run(bench, forgetful)).rejects.toThrow("The connection is gone.");
    // Only the lost answer knew the permissions and the byte order mark of a removed file.
    const plain = (name: string, entry: string | undefined) => (name === "e.txt" ? entry?.slice(-2) : entry);
    const after = snapshot(bench.folder);
    for (const [name, entry] of Object.entries(before)) {
      if (!(name === "link.txt" && failing === 5)) expect(plain(name, after[name])).toBe(plain(name, entry));
    }
    expect(Object.keys(after)).toEqual(Object.keys(before));
  },
);

test("a file that the user had decided about stays when a later change fails, and is named", async () => {
  const bench = workspace();
  const { files } = bench.context.host;
  const reviewing: HostFiles = {
    ...files,
    async guardedWrite(write, signal) {
      if (write.purpose === "edit" && write.after === null) return FAILED;
      const written = await files.guardedWrite(write, signal);
      const review: WriteReview = { text: write.after, kept: 1, rejected: 0 };
      return written.ok ? ({ ok: true, review } satisfies FileWritten) : written;
    },
  };
  const result = await run(bench, reviewing);
  expect(result.ok).toBe(false);
  expect(result.text).toContain("The disk is full.");
  expect(result.text).toContain("Changed a.txt; the user accepted the change.");
  expect(readFileSync(join(bench.folder, "a.txt"), "utf8")).toBe("ONE\r\n");
});

test("a moved file whose change the user rejects is said to have moved", async () => {
  const bench = workspace();
  const { files } = bench.context.host;
  const rejecting: HostFiles = {
    ...files,
    guardedWrite: ({ expected }) => Promise.resolve({ ok: true, review: { text: expected, kept: 0, rejected: 1 } }),
  };
  const result = await run(bench, rejecting);
  expect(result.text).toContain("Moved b.txt to c/b.txt. patch: the user reviewed and rejected the change");
});

test("a file that cannot be put back either is named", async () => {
  const bench = workspace();
  const { files } = bench.context.host;
  let changes = 0;
  const stubborn: HostFiles = {
    ...files,
    guardedWrite(write, signal) {
      if (write.purpose === "revert") {
        return Promise.resolve({ ok: false, reason: "denied", message: "new/d.txt cannot be removed." });
      }
      return changes++ < 1 ? files.guardedWrite(write, signal) : Promise.resolve(FAILED);
    },
  };
  const result = await run(bench, stubborn);
  expect(result.text).toContain("Some files could not be reverted: new/d.txt cannot be removed. Check these files.");
});

/** A patch that does something different to each of some files. */
function randomPatch(random: Random, names: readonly string[]): string {
  const sections = names.flatMap((name, index) => {
    const change = [`-${name}`, `+${name.toUpperCase()}`];
    const kinds: readonly (readonly string[])[] = [
      [`*** Delete File: ${name}`],
      [`*** Update File: ${name}`, ...change],
      [`*** Update File: ${name}`, `*** Move to: moved/${name}`, ...change],
      [`*** Move File: ${name} -> ${name}.away`],
      [`*** Add File: new/${index}.txt`, "+new"],
      [],
    ];
    return random.pick(kinds);
  });
  return ["*** Begin Patch", "*** Add File: first.txt", "+first", ...sections, "*** End Patch"].join("\n");
}

test("random patches of several files leave all or nothing, wherever they fail", async () => {
  const random = seeded(20_261_122);
  let failures = 0;
  for (let index = 0; index < 150; index++) {
    const bench = toolBench();
    const names = Array.from({ length: 1 + random.below(5) }, (_, at) => `f${at}`);
    for (const name of names) {
      const [mark, end] = [random.pick(["", "\ufeff"]), random.pick(["\n", "\r\n", ""])];
      writeFileSync(join(bench.folder, name), `${mark}${name}${end}`, { mode: random.pick([0o644, 0o755, 0o600]) });
    }
    const before = snapshot(bench.folder);
    const { files } = bench.context.host;
    const failing = failingFiles(files, random.below(10), () => Promise.resolve(FAILED));
    const patch = randomPatch(random, names);
    const result = await run(bench, failing, patch);
    if (result.ok) continue;
    failures += 1;
    expect(snapshot(bench.folder), `case ${index}: ${patch}\n${result.text}`).toEqual(before);
    // Nothing stands in the way of the next try.
    expect(await run(bench, files, patch), `case ${index}`).toMatchObject({ ok: true });
  }
  expect(failures).toBeGreaterThan(50);
});
