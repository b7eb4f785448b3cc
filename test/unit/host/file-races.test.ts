import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { nodeFiles } from "../../../agent-core/host/node-files.ts";
import { sweep } from "../../support/scale.ts";
import { seeded } from "../approval/support/random.ts";

const ROUNDS = sweep(500, 125);
const SEED = 1;

// Agents of two windows, each a process of its own otherwise, that know nothing of each other.
const { signal } = new AbortController();
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "hermes-races-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

test("two agents that write one file at the same moment lose no change", async () => {
  const random = seeded(SEED);
  const agents = [nodeFiles(), nodeFiles()];
  let lost = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const path = join(folder, `${round}.txt`);
    await writeFile(path, "shared\n");
    const done = await Promise.all(
      agents.map(async (files, index) => {
        for (let turns = random.below(12); turns > 0; turns -= 1) await new Promise(setImmediate);
        const read = await files.readText(path, signal);
        if (!read.ok) throw new Error(read.message);
        const after = `${read.text}agent ${index}\n`;
        const written = await files.guardedWrite({ path, expected: read.text, after, purpose: "edit" }, signal);
        return written.ok ? [`agent ${index}\n`] : [];
      }),
    );
    const text = await readFile(path, "utf8");
    lost += done.flat().filter((line) => !text.includes(line)).length;
  }
  expect(lost).toBe(0);
});
