import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { rangeToDrop, runCompress } from "../../../batch/trajectories/compress.ts";
import { fail, say } from "../../support/model-server/model-server.ts";
import { startRig, valuesOf } from "./support/rig.ts";

type Turn = { readonly from: "system" | "human" | "gpt" | "tool"; readonly value: string };

/** A conversation of 24 turns, about 1,000 tokens each behind the first four. */
const turns: readonly Turn[] = [
  { from: "system", value: "s" },
  { from: "human", value: "task" },
  ...Array.from({ length: 11 }, (_, at): Turn[] => [
    { from: "gpt", value: `call ${at} ${"x".repeat(at === 0 ? 1 : 3_600)}` },
    { from: "tool", value: `result ${at} ${"y".repeat(at === 0 ? 1 : 3_600)}` },
  ]).flat(),
];

describe("The compressor", () => {
  test("drops as few turns as needed, between the first of each kind and the last four", () => {
    expect(rangeToDrop(turns, 15_250)).toEqual({ start: 4, end: 10 });
    expect(rangeToDrop(turns, 1)).toEqual({ start: 4, end: 20 });
    expect(rangeToDrop(turns, 100_000)).toBeUndefined();
    expect(rangeToDrop(turns.slice(0, 8), 1)).toBeUndefined();
  });

  test("puts a summary of the model in their place, and keeps every other field", async () => {
    const rig = await startRig();
    rig.model.respondWith(() => say("what happened"));
    const row = { prompt_index: 3, conversations: turns, metadata: { a: 1.5 } };
    const folder = join(rig.folder, "in");
    mkdirSync(folder);
    writeFileSync(join(folder, "a.jsonl"), `${JSON.stringify(row)}\n`);
    writeFileSync(
      join(folder, "b.jsonl.gz"),
      gzipSync(`${JSON.stringify({ ...row, conversations: turns.slice(0, 4) })}\n`),
    );
    const io = { environment: rig.environment, say: () => undefined, report: () => undefined, isTerminal: false };
    expect(await runCompress(await valuesOf(["compress", "--input", folder]), io)).toBe(0);
    const out = `${folder}_compressed`;
    const written = JSON.parse(readFileSync(join(out, "a.jsonl"), "utf8"));
    expect(written).toMatchObject({ prompt_index: 3, metadata: { a: 1.5 } });
    expect(written.conversations).toHaveLength(24 - 6 + 1);
    expect(written.conversations[4]).toEqual({ from: "human", value: "[CONTEXT SUMMARY]: what happened" });
    expect(JSON.parse(gunzipSync(readFileSync(join(out, "b.jsonl.gz"))).toString()).conversations).toHaveLength(4);
    const metrics = JSON.parse(readFileSync(join(out, "compression_metrics.json"), "utf8"));
    expect(metrics).toMatchObject({ total_trajectories: 2, compressed: 1, skipped_under_target: 1, turns_removed: 5 });
    expect(JSON.stringify(rig.model.requests[0]?.body)).toContain("result 2");
  });

  test("leaves a line as it is when its summary fails", async () => {
    const rig = await startRig("agent:\n  retry_seconds: 0\n");
    rig.model.respondWith(() => fail(400, "no"));
    const file = rig.write("a.jsonl", `${JSON.stringify({ conversations: turns })}\n`);
    const io = { environment: rig.environment, say: () => undefined, report: () => undefined, isTerminal: false };
    expect(await runCompress(await valuesOf(["compress", "--input", file]), io)).toBe(1);
    expect(readFileSync(file.replace(".jsonl", "_compressed.jsonl"), "utf8")).toBe(readFileSync(file, "utf8"));
  });
});
