/** Cost of checkpoints: an edit with and without them, a command in a workspace of 10,000 files, and a large restore. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Checkpoints } from "../../agent-core/checkpoints/checkpoints.ts";
import { WorkspaceScan } from "../../agent-core/checkpoints/workspace-scan.ts";
import type { Host } from "../../agent-core/host/host.ts";
import { nodeHost } from "../../agent-core/host/node-host.ts";
import { CheckpointBench } from "../support/checkpoint-bench.ts";
import { median, type Row } from "./measuring.ts";

const FOLDERS = 500;
const FILES_A_FOLDER = 20;
const EDITS = 100;
const COMMANDS = 9;
/** Files of a repository, and those of them that a command changes. */
const TRACKED_FILES = 19_000;
const CHANGED_FILES = 2_000;
const LINES = 400;
const { signal } = new AbortController();

export async function measureCheckpoints(): Promise<readonly Row[]> {
  return [...(await measureCommands()), ...(await measureRestore())];
}

/** Time until the preview of a command's many changes, from the command's end on, and of their restore. */
async function measureRestore(): Promise<readonly Row[]> {
  const bench = new CheckpointBench();
  const git = (...args: readonly string[]): unknown =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...args], { cwd: bench.folder });
  try {
    for (let at = 0; at < TRACKED_FILES; at += 1) bench.write(`${at % 100}/${at}.ts`, `const a = ${at};\n`.repeat(40));
    git("init", "--quiet");
    git("add", ".");
    git("commit", "--quiet", "-m", "one");
    const first = bench.turn();
    await bench.run("true");
    await bench.run(`find . -name '*.ts' | head -${CHANGED_FILES} | xargs sed -i s/const/let/`);
    const start = performance.now();
    const { length } = await bench.preview(first);
    const previewed = performance.now();
    await bench.restore(first);
    if (length !== CHANGED_FILES) throw new Error(`The preview has ${length} files.`);
    return [
      { what: "preview of 2,000 changed files", ours: previewed - start, target: 1_000, unit: "ms" },
      { what: "restore of 2,000 files", ours: performance.now() - previewed, target: 4_000, unit: "ms" },
    ];
  } finally {
    await bench.dispose();
    for (const folder of [bench.folder, bench.objects]) rmSync(folder, { recursive: true, force: true });
  }
}

async function measureCommands(): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), "hermes-bench-checkpoints-"));
  const objects = mkdtempSync(join(tmpdir(), "hermes-bench-objects-"));
  const host = nodeHost();
  writeWorkspace(folder);
  const checkpoints = new Checkpoints({
    host,
    roots: [folder],
    objects,
    entries: [],
    trusted: () => true,
    onlyReads: async () => false,
    position: () => 1,
    journal: () => undefined,
    notifyUser: console.error,
    onDefect: console.error,
  });
  try {
    const watched = checkpoints.hostFor("call_1");
    const plainEdit = median(await edits(host, join(folder, "plain.txt")));
    const edit = median(await edits(watched, join(folder, "edited.txt")));
    const plainCommand = median(await commands(host, folder, objects));
    await watched.terminals.open(folder, signal);
    checkpoints.beginTurn();
    await commands(watched, folder, objects); // the first scan belongs to the first turn, beside the model's answer
    const command = median(await commands(watched, folder, objects));
    return [
      { what: "checkpoint of an edit", ours: edit - plainEdit, target: 10, unit: "ms" },
      { what: "scan of 10,000 files that did not change", ours: await scans(folder), target: 100, unit: "ms" },
      { what: "watching a command, 10,000 files", ours: command - plainCommand, target: 200, unit: "ms" },
    ];
  } finally {
    await checkpoints.close();
    await host.terminals.dispose();
    rmSync(folder, { recursive: true, force: true });
    rmSync(objects, { recursive: true, force: true });
  }
}

function writeWorkspace(folder: string): void {
  for (let at = 0; at < FOLDERS; at += 1) {
    const inner = join(folder, `folder-${at % 25}`, `inner-${at}`);
    mkdirSync(inner, { recursive: true });
    for (let file = 0; file < FILES_A_FOLDER; file += 1)
      writeFileSync(join(inner, `${file}.ts`), `const a = ${at * file};\n`);
  }
}

async function edits({ files }: Host, path: string): Promise<readonly number[]> {
  const text = (at: number): string => Array.from({ length: LINES }, (_, line) => `line ${line} of ${at}\n`).join("");
  writeFileSync(path, text(0));
  const times: number[] = [];
  for (let at = 0; at < EDITS; at += 1) {
    const start = performance.now();
    await files.guardedWrite({ path, expected: text(at), after: text(at + 1), purpose: "edit" }, signal);
    times.push(performance.now() - start);
  }
  return times;
}

async function commands({ terminals }: Host, folder: string, objects: string): Promise<readonly number[]> {
  const times: number[] = [];
  for (let at = 0; at < COMMANDS; at += 1) {
    const start = performance.now();
    const running = await terminals.start(
      {
        command: `echo ${at} > changed.txt`,
        shell: { folder, variables: undefined },
        keepsShell: true,
        input: "none",
        pty: false,
        outputFile: join(objects, "output.log"),
      },
      signal,
    );
    await running.exit;
    times.push(performance.now() - start);
    await running.release();
  }
  return times;
}

async function scans(folder: string): Promise<number> {
  const scan = new WorkspaceScan([folder]);
  await scan.scan();
  const times: number[] = [];
  for (let at = 0; at < COMMANDS; at += 1) {
    const start = performance.now();
    await scan.scan();
    times.push(performance.now() - start);
  }
  return median(times);
}
