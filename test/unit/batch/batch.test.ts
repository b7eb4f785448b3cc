import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { showStatus } from "../../../batch/run-batch.ts";
import { RunFolder } from "../../../batch/run-folder.ts";
import { call, fail, hold } from "../../support/model-server/model-server.ts";
import { dataSet, startRig, think } from "./support/rig.ts";

const USUAL = ["--batch_size=2", "--run_name", "r1", "--distribution", "terminal_only", "--retries", "0"];
/** A failed call is not tried again. */
const AT_ONCE = "agent:\n  retry_seconds: 0\n";

describe("A batch", () => {
  test("writes the original's files with its fields in their order", async () => {
    const rig = await startRig();
    rig.model.respondWith(() => think("done"));
    const file = rig.write("tasks.jsonl", dataSet(["one", "two", "three"]));
    expect(await rig.run("--dataset-file", file, ...USUAL)).toBe(0);
    expect(readdirSync(join(rig.folder, "data/r1")).toSorted()).toEqual([
      "batch_0.jsonl",
      "batch_1.jsonl",
      "checkpoint.json",
      "statistics.json",
      "trajectories.jsonl",
    ]);
    const [row] = rig.lines("batch_0.jsonl");
    expect(Object.keys(row ?? {})).toEqual(
      "prompt_index conversations metadata completed partial api_calls toolsets_used tool_stats tool_error_counts".split(
        " ",
      ),
    );
    expect(Object.keys(row?.metadata ?? {})).toEqual(["batch_num", "timestamp", "model", "hermes"]);
    expect(row).toMatchObject({ completed: true, partial: false, api_calls: 1, toolsets_used: ["terminal", "file"] });
    expect(row?.tool_stats["terminal"]).toEqual({ count: 0, success: 0, failure: 0 });
    const raw = readFileSync(join(rig.folder, "data/r1/batch_0.jsonl"), "utf8");
    expect(raw).toMatch(/^\{"prompt_index": [01], "conversations": \[\{"from": "system", "value": "/);
    const checkpoint = readFileSync(join(rig.folder, "data/r1/checkpoint.json"), "utf8");
    expect(checkpoint).toMatch(
      /^\{\n {2}"run_name": "r1",\n {2}"completed_prompts": \[\n {4}0,\n {4}1,\n {4}2\n {2}\],\n {2}"batch_stats": \{\n {4}"0": \{\n {6}"processed": 2,\n {6}"skipped": 0,\n {6}"discarded_no_reasoning": 0/,
    );
    const statistics = JSON.parse(readFileSync(join(rig.folder, "data/r1/statistics.json"), "utf8"));
    expect(Object.keys(statistics)).toEqual(
      "run_name distribution total_prompts total_batches batch_size model completed_at duration_seconds tool_statistics reasoning_statistics metadata".split(
        " ",
      ),
    );
    expect(rig.lines("trajectories.jsonl")).toHaveLength(3);
  });

  test("counts equal prompts as separate tasks, also on a resume", async () => {
    const rig = await startRig(AT_ONCE);
    const file = rig.write("tasks.jsonl", dataSet(["same", "same", "same"]));
    rig.model.script(think("1"), fail(400, "no"), think("3"));
    expect(await rig.run("--dataset_file", file, ...USUAL, "--num_workers", "1")).toBe(1);
    rig.model.script(think("2"));
    expect(await rig.run("--dataset_file", file, ...USUAL, "--resume")).toBe(0);
    expect(rig.model.requests).toHaveLength(4);
    const rows = rig.lines("trajectories.jsonl");
    expect(rows.map((row) => row.prompt_index).toSorted((one, other) => one - other)).toEqual([0, 1, 2]);
    expect(await rig.run("--dataset_file", file, ...USUAL, "--resume")).toBe(0);
    expect(rig.model.requests).toHaveLength(4);
  });

  test("resumes after a torn line, and when the data set has changed", async () => {
    const rig = await startRig();
    rig.model.respondWith(() => think("done"));
    const file = rig.write("tasks.jsonl", dataSet(["a", "b", "c"]));
    expect(await rig.run("--dataset_file", file, ...USUAL, "--batch_size=3")).toBe(0);
    const batch = join(rig.folder, "data/r1/batch_0.jsonl");
    truncateSync(batch, readFileSync(batch).length - 10);
    rig.write("tasks.jsonl", dataSet(["new", "c", "b", "a"]));
    expect(await rig.run("--dataset_file", file, ...USUAL, "--resume")).toBe(0);
    expect(rig.model.requests).toHaveLength(5);
    expect(rig.lines("trajectories.jsonl")).toHaveLength(4);
  });

  test("takes a line of the original as one task with its words", async () => {
    const rig = await startRig();
    rig.model.respondWith(() => think("done"));
    const file = rig.write("tasks.jsonl", dataSet(["old", "old", "new"]));
    mkdirSync(join(rig.folder, "data/r1"), { recursive: true });
    const conversations = [
      { from: "human", value: "old " },
      { from: "gpt", value: "<think>\nx\n</think>\nhi" },
    ];
    const line = { prompt_index: 0, conversations, metadata: {}, completed: true, tool_stats: {} };
    writeFileSync(join(rig.folder, "data/r1/batch_0.jsonl"), `${JSON.stringify(line)}\n`);
    expect(await rig.run("--dataset_file", file, ...USUAL)).toBe(2);
    expect(await rig.run("--dataset_file", file, ...USUAL, "--resume")).toBe(0);
    expect(rig.model.requests).toHaveLength(2);
    expect(rig.lines("trajectories.jsonl")).toHaveLength(3);
  });

  test("reports bad lines with file, line and reason, and runs the others", async () => {
    const rig = await startRig();
    rig.model.respondWith(() => think("done"));
    const file = rig.write(
      "tasks.jsonl",
      '\ufeff{"prompt":"one","other":1}\r\n\r\nnothing\r\n{"text":"x"}\r\n[1]\r\n{"prompt":""}\r\n',
    );
    expect(await rig.run("--dataset_file", file, ...USUAL)).toBe(1);
    expect(rig.reported.slice(0, 4)).toEqual([
      `${file}:3: it is not JSON\n`,
      `${file}:4: it has no "prompt"\n`,
      `${file}:5: it is not a JSON object\n`,
      `${file}:6: "prompt" is empty\n`,
    ]);
    expect(rig.lines("trajectories.jsonl")).toHaveLength(1);
    expect(await rig.run("--dataset_file", rig.write("bad.jsonl", "x\n"), ...USUAL)).toBe(2);
    expect(await rig.run("--dataset_file", join(rig.folder, "missing"), ...USUAL)).toBe(2);
    expect(await rig.run("--dataset_file", file, ...USUAL, "--what")).toBe(2);
  });

  test("leaves out conversations without thoughts, and does not repeat them", async () => {
    const rig = await startRig();
    rig.model.respondWith(() => ({ parts: [{ type: "text", text: "no thought" }] }));
    const file = rig.write("tasks.jsonl", dataSet(["one"]));
    expect(await rig.run("--dataset_file", file, ...USUAL)).toBe(0);
    expect(await rig.run("--dataset_file", file, ...USUAL, "--resume")).toBe(0);
    expect(rig.model.requests).toHaveLength(1);
    expect(readFileSync(join(rig.folder, "data/r1/trajectories.jsonl"), "utf8")).toBe("");
    expect(await rig.run("--dataset_file", file, ...USUAL, "--run_name=r2", "--keep-without-reasoning")).toBe(0);
    expect(existsSync(join(rig.folder, "data/r2/batch_0.jsonl"))).toBe(true);
  });

  test("sends its settings, and neither memory nor the project's instructions", async () => {
    const rig = await startRig();
    rig.model.respondWith(() => think("done"));
    const template = join(rig.folder, "template");
    mkdirSync(template);
    writeFileSync(join(template, "AGENTS.md"), "UNWANTED INSTRUCTIONS");
    mkdirSync(join(String(rig.environment["HERMES_HOME"]), "memories"));
    writeFileSync(join(String(rig.environment["HERMES_HOME"]), "memories/MEMORY.md"), "UNWANTED MEMORY");
    const file = rig.write("tasks.jsonl", dataSet(["/help is a prompt"]));
    const prefill = rig.write("prefill.json", JSON.stringify([{ role: "user", content: "EARLIER" }]));
    const more = ["--ephemeral_system_prompt", "BE BRIEF", "--max_tokens=77", "--providers_order", "a,b"];
    const files = ["--workdir-template", template, "--prefill_messages_file", prefill];
    expect(await rig.run("--dataset_file", file, ...USUAL, ...more, ...files)).toBe(0);
    const [request] = rig.model.requests;
    const sent = JSON.stringify(request?.body);
    expect(sent).toContain("BE BRIEF");
    expect(sent).toContain("EARLIER");
    expect(sent).not.toContain("UNWANTED");
    expect(request?.body).toMatchObject({ max_tokens: 77, provider: { order: ["a", "b"] } });
    expect(request?.body.messages.at(-1)?.["content"]).toMatch(/\/help is a prompt$/);
    expect(JSON.stringify(rig.lines("batch_0.jsonl"))).not.toContain("BE BRIEF");
  });

  test("gives each task its own copy of the template, and leaves no folder", async () => {
    const rig = await startRig();
    const temporary = join(rig.folder, "tmp");
    mkdirSync(temporary);
    vi.stubEnv("TMPDIR", temporary); // other files of tests run batches in the shared one
    onTestFinished(() => void vi.unstubAllEnvs());
    const repository = join(rig.folder, "repository");
    mkdirSync(repository);
    const git = (...args: string[]) => execFileSync("git", ["-C", repository, ...args]);
    git("init", "-q", "-b", "main");
    writeFileSync(join(repository, "note.txt"), "from git\n");
    git("add", ".");
    git("-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "one");
    rig.model.script(
      { parts: [call("write_file", { path: "new.txt", content: "x" }), call("read_file", { path: "note.txt" })] },
      think("done"),
      { parts: [call("read_file", { path: "new.txt" })] },
      think("done"),
    );
    const file = rig.write("tasks.jsonl", dataSet(["one", "two"]));
    const args = ["--workdir-template", `git:${repository}@main`, "--num_workers=1"];
    expect(await rig.run("--dataset_file", file, ...USUAL, ...args)).toBe(0);
    const [first, second] = rig.lines("batch_0.jsonl");
    expect(JSON.stringify(first?.conversations)).toContain("from git");
    expect(second?.tool_stats["read_file"]).toEqual({ count: 1, success: 0, failure: 1 });
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("fails a task alone whose template has vanished, and tries failed tasks again", async () => {
    const rig = await startRig(AT_ONCE);
    const file = rig.write("tasks.jsonl", `${JSON.stringify({ prompt: "a", cwd: "/not/there" })}\n${dataSet(["b"])}`);
    rig.model.script(fail(400, "broken"), think("done"));
    expect(await rig.run("--dataset_file", file, ...USUAL, "--retries=1")).toBe(1);
    expect(rig.reported.join("")).toContain("task 0 failed: There is no template folder /not/there.");
    const rows = rig.lines("batch_0.jsonl");
    expect(rows.find((row) => row.prompt_index === 0)).toMatchObject({ failed: true, completed: false });
    expect(rows.find((row) => row.prompt_index === 1)?.metadata.hermes).toMatchObject({ attempts: 2 });
  });

  test("keeps a prompt of 10 MB whole, and fails a missing image alone", async () => {
    const rig = await startRig(AT_ONCE);
    rig.model.respondWith(() => think("done"));
    const missing = JSON.stringify({ prompt: "in a container", image: "127.0.0.1:9/hermes-no-such-image:1" });
    const file = rig.write("tasks.jsonl", `${dataSet(["x ".repeat(5_000_000)])}${missing}\n${dataSet(["small"])}`);
    expect(await rig.run("--dataset_file", file, ...USUAL, "--log_prefix_chars=40")).toBe(1);
    expect(rig.reported.join("")).toMatch(
      /task 1 failed: the image 127\.0\.0\.1:9\/hermes-no-such-image:1 is not there/,
    );
    expect(Math.max(...rig.reported.map((line) => line.length))).toBeLessThan(1_000);
    expect(rig.lines("trajectories.jsonl").map(({ prompt_index: index }) => index)).toEqual([0, 2]);
    expect(rig.lines("trajectories.jsonl")[0]?.conversations[1]?.value.length).toBeGreaterThan(9_999_000);
  });

  test("outlasts a server that refuses for many minutes, by its retries", async () => {
    const rig = await startRig(AT_ONCE);
    const file = rig.write("tasks.jsonl", dataSet(["a"]));
    rig.model.script(...Array.from({ length: 3 }, () => fail(429, "slow down")), think("done"));
    expect(await rig.run("--dataset_file", file, ...USUAL, "--retries=3"), rig.reported.join("")).toBe(0);
    expect(rig.lines("trajectories.jsonl")[0]?.metadata.hermes).toMatchObject({ attempts: 4 });
  });

  test("ends a task that takes longer than its time", async () => {
    const rig = await startRig();
    rig.model.respondWith(() => ({ silent: true }));
    const file = rig.write("tasks.jsonl", dataSet(["a"]));
    expect(await rig.run("--dataset_file", file, ...USUAL, "--task-timeout=300ms")).toBe(1);
    expect(rig.reported.join("")).toContain("the task did not end within 0.3 seconds");
  });

  test("begins no task after its budget is spent", async () => {
    const rig = await startRig();
    rig.model.respondWith(() => think("done"));
    rig.model.lookUps.set("/models", {
      data: [{ id: "test-model", pricing: { prompt: "0.001", completion: "0.001" } }],
    });
    const file = rig.write("tasks.jsonl", dataSet(["a", "b", "c", "d"]));
    const args = [...USUAL, "--num_workers=1", "--max_cost=0.2"];
    expect(await rig.run("--dataset_file", file, ...args)).toBe(1);
    expect(rig.reported.join("")).toMatch(/the budget of \$0.2 is spent/);
    expect(rig.lines("trajectories.jsonl").length).toBeLessThan(4);
    expect(await rig.run("--dataset_file", file, ...args, "--resume")).toBe(1);
    expect(rig.model.requests.length).toBeLessThan(4);
  });

  test("gives several samples of a task, each once", async () => {
    const rig = await startRig();
    rig.model.respondWith(() => think("done"));
    const file = rig.write("tasks.jsonl", dataSet(["a", "b"]));
    expect(await rig.run("--dataset_file", file, ...USUAL, "--samples=3")).toBe(0);
    const samples = rig
      .lines("trajectories.jsonl")
      .map((row) => `${row.prompt_index}.${row.metadata.hermes["sample"]}`);
    expect(new Set(samples)).toEqual(new Set(["0.0", "0.1", "0.2", "1.0", "1.1", "1.2"]));
  });

  test("finishes its running tasks on a signal, and begins no other", async () => {
    const rig = await startRig();
    const held = hold();
    rig.model.script({ parts: [held.part, { type: "reasoning", text: "x" }, { type: "text", text: "done" }] });
    rig.model.respondWith(() => think("more"));
    const file = rig.write("tasks.jsonl", dataSet(["a", "b", "c"]));
    const run = rig.run("--dataset_file", file, ...USUAL, "--num_workers=1");
    await held.reached;
    process.emit("SIGTERM");
    held.release();
    expect(await run).toBe(130);
    expect(rig.lines("trajectories.jsonl")).toHaveLength(1);
    expect(await rig.run("--dataset_file", file, ...USUAL, "--resume")).toBe(0);
    expect(rig.lines("trajectories.jsonl")).toHaveLength(3);
  });

  test("stops with a reason when results cannot be written", async () => {
    const rig = await startRig();
    rig.model.respondWith(() => think("done"));
    const file = rig.write("tasks.jsonl", dataSet(["a"]));
    mkdirSync(join(rig.folder, "data/r1/discarded.jsonl"), { recursive: true });
    rig.model.respondWith(() => ({ parts: [{ type: "text", text: "no thought" }] }));
    expect(await rig.run("--dataset_file", file, ...USUAL)).toBe(1);
    expect(rig.reported.join("")).toMatch(/EISDIR/);
  });

  test("shows its tasks without running them", async () => {
    const rig = await startRig();
    const file = rig.write("tasks.jsonl", dataSet(["a", "b"]));
    expect(await rig.run("--dataset_file", file, ...USUAL, "--dry-run")).toBe(0);
    expect(rig.said.join("")).toBe("2 tasks in 1 batch, 4 at a time\n  [0] terminal,file: a\n  [1] terminal,file: b\n");
    expect(existsSync(join(rig.folder, "data"))).toBe(false);
  });
});

test("A run whose folder another process writes is not available", async () => {
  const rig = await startRig();
  mkdirSync(join(rig.folder, "data/r1"), { recursive: true });
  const parent = JSON.stringify({ pid: process.ppid, nonce: "x" });
  appendFileSync(join(rig.folder, "data/r1/.lock"), parent);
  const file = rig.write("tasks.jsonl", dataSet(["a"]));
  expect(await rig.run("--dataset_file", file, ...USUAL)).toBe(75);
  expect(rig.reported.join("")).toContain(`is in use by process ${process.ppid}`);
});

test("The status of a run counts its results", async () => {
  const rig = await startRig();
  rig.model.respondWith(() => think("done"));
  const file = rig.write("tasks.jsonl", dataSet(["a", "b"]));
  expect(await rig.run("--dataset_file", file, ...USUAL)).toBe(0);
  const said: string[] = [];
  const options = { out: join(rig.folder, "data"), isJson: true, say: (text: string) => said.push(text) };
  expect(await showStatus("r1", options)).toBe(0);
  expect(JSON.parse(said[0] ?? "")).toMatchObject({ run: "r1", results: 2, failed: 0, writer: null });
});

test("The first valid line of a task wins, and a failure is no result", async () => {
  const rig = await startRig();
  const folder = new RunFolder(join(rig.folder, "data/r1"));
  const facts = { index: 0, batch: 0, sample: 0, toolsets: [], model: "m", toolStats: {}, unknownTools: [] };
  const more = { steps: [], attempts: 1, durationMs: 1, denied: [], key: "k" };
  const said = (value: string) => ({
    conversations: [{ from: "gpt" as const, value: `<think>\nx\n</think>\n${value}` }],
  });
  expect(await folder.add({ ...facts, ...more, ...said("0"), outcome: "failed" })).toBe("written");
  expect(await folder.add({ ...facts, ...more, ...said("1"), outcome: "completed" })).toBe("written");
  expect(await folder.add({ ...facts, ...more, ...said("2"), outcome: "completed" })).toBe("known");
  folder.close();
  expect(rig.lines("batch_0.jsonl").map((row) => row.failed ?? false)).toEqual([true, false]);
});
