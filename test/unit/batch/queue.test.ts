import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { addJobs, jobId, openQueue } from "../../../batch/engines/queue-connection.ts";
import { call, hold } from "../../support/model-server/model-server.ts";
import { hasPrograms } from "../../support/programs.ts";
import { type QueueServer, startPostgres, startRedis } from "../../support/queue-servers.ts";
import { sweep } from "../../support/scale.ts";
import { type BatchRig, dataSet, startRig, think } from "./support/rig.ts";

const USUAL = ["--batch_size=10", "--run_name", "r1", "--distribution", "terminal_only", "--retries", "0"];
const servers = { redis: startRedis, postgres: startPostgres };

async function start(kind: keyof typeof servers): Promise<QueueServer> {
  const server = await servers[kind]();
  onTestFinished(() => server.stop());
  return server;
}

type TestWorker = {
  readonly process: ChildProcess;
  readonly report: () => string;
  kill(signal?: NodeJS.Signals): Promise<void>;
};

/** Resolves when the worker is ready. */
async function startWorker(rig: BatchRig, url: string, drainMs = 60_000): Promise<TestWorker> {
  const program = join(import.meta.dirname, "support/worker-process.ts");
  const child = spawn(process.execPath, [program, url, "2", String(drainMs)], {
    env: { ...process.env, ...rig.environment },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let report = "";
  const kill = async (signal: NodeJS.Signals = "SIGKILL"): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, "exit");
  };
  onTestFinished(() => kill());
  await new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      report += text;
      if (report.includes("Ready")) resolve();
    });
    child.once("exit", () => reject(new Error(`the worker ended: ${report}`)));
  });
  return { process: child, report: () => report, kill };
}

function prompts(count: number): string {
  return dataSet(Array.from({ length: count }, (_, index) => `task ${index}`));
}

describe.each(sweep(["redis", "postgres"] as const, ["postgres"] as const))("A batch over %s", (kind) => {
  test.runIf(hasPrograms("redis-server", "postgres"))("survives kills of its workers", async () => {
    const [rig, server] = await Promise.all([startRig(), start(kind)]);
    const held = [hold(), hold()];
    rig.model.script(...held.map(({ part }) => ({ parts: [part] })));
    rig.model.respondWith(() => think("done"));
    const file = rig.write("tasks.jsonl", prompts(1));
    const run = rig.run("--dataset_file", file, ...USUAL, "--queue", server.url);
    // A job that was taken over once fails for good with BullMQ's defaults when its worker dies again.
    for (const { reached } of held) {
      const worker = await startWorker(rig, server.url);
      await reached;
      await worker.kill();
    }
    await startWorker(rig, server.url);
    expect(await run, rig.reported.join("")).toBe(0);
    expect(rig.lines("trajectories.jsonl")).toHaveLength(1);
    for (const { release } of held) release();
  });
});

/** Time of the model for an answer, so that kills meet running tasks. Milliseconds. */
const ANSWER_MS = 300;
/** One task of so many calls a tool. */
const WITH_TOOL = 10;

/** Exit code of a coordinator that begins while the server is away. */
const TRY_AGAIN = 75;

const kinds = sweep(["redis", "postgres"] as const, ["redis"] as const);

describe.runIf(hasPrograms("redis-server", "postgres")).each(kinds)("A batch over %s under kills", (kind) => {
  const tasks = sweep(Number(process.env["HERMES_TEST_COUNT"] ?? 5_000), 24);
  const workerCount = sweep(4, 1);
  const kills = sweep(10, 1);
  const withTool = Math.ceil(tasks / WITH_TOOL);

  test("has each task once in its results and statistics", { timeout: sweep(1_800_000, 90_000) }, async () => {
    const [rig, server] = await Promise.all([startRig(), start(kind)]);
    let answered = 0;
    let reached = Promise.withResolvers<void>();
    rig.model.respondWith(({ messages }) => {
      answered += 1;
      if (answered % Math.ceil(tasks / (kills * 3 + 1)) === 0) reached.resolve();
      const until = new Promise((resolve) => setTimeout(resolve, ANSWER_MS));
      const index = Number(/task (\d+)/.exec(String(messages.find(({ role }) => role === "user")?.["content"]))?.[1]);
      const isCalling = index % WITH_TOOL === 0 && messages.at(-1)?.["role"] !== "tool";
      const part = isCalling ? call("terminal", { command: "true" }) : ({ type: "text", text: "done" } as const);
      return { parts: [{ type: "wait", until }, { type: "reasoning", text: "hm" }, part] };
    });
    const file = rig.write("tasks.jsonl", prompts(tasks));
    const program = join(import.meta.dirname, "support/coordinator-process.ts");
    const args = ["batch", "--dataset_file", file, ...USUAL, "--queue", server.url, "--out", join(rig.folder, "data")];
    const coordinate = (): { readonly child: ChildProcess; readonly ended: Promise<unknown[]> } => {
      const env = { ...process.env, ...rig.environment };
      const child = spawn(process.execPath, [program, ...args, "--resume"], {
        env,
        stdio: ["ignore", "ignore", "pipe"],
      });
      onTestFinished(() => void child.kill("SIGKILL"));
      return { child, ended: once(child, "exit") };
    };
    let coordinator = coordinate();
    const workers: TestWorker[] = [];
    while (workers.length < workerCount) workers.push(await startWorker(rig, server.url));
    const victims = ["worker", "coordinator", "server"];
    for (let count = 0; count < kills * victims.length; count += 1) {
      await Promise.race([reached.promise, coordinator.ended]);
      reached = Promise.withResolvers<void>();
      if (coordinator.child.exitCode !== null) break;
      const victim = victims[count % victims.length];
      if (victim === "worker") {
        await workers.shift()?.kill();
        workers.push(await startWorker(rig, server.url));
      } else if (victim === "server") {
        await server.kill();
        await server.restart();
      } else {
        coordinator.child.kill("SIGKILL");
        await coordinator.ended;
        coordinator = coordinate();
      }
    }
    while ((await coordinator.ended)[0] === TRY_AGAIN) coordinator = coordinate();
    expect(await coordinator.ended).toEqual([0, null]);
    const indices = rig.lines("trajectories.jsonl").map(({ prompt_index: index }) => index);
    expect(indices).toHaveLength(tasks);
    expect(new Set(indices).size).toBe(tasks);
    const turns = tasks + withTool;
    expect(JSON.parse(readFileSync(join(rig.folder, "data/r1/statistics.json"), "utf8"))).toMatchObject({
      total_prompts: tasks,
      tool_statistics: { terminal: { count: withTool, success: withTool, failure: 0 } },
      reasoning_statistics: {
        total_assistant_turns: turns,
        turns_with_reasoning: turns,
        turns_without_reasoning: 0,
      },
    });
  });
});

describe.runIf(hasPrograms("redis-server"))("A batch over a queue", () => {
  test("takes results that were made without it, and hands back tasks of a worker that ends", async () => {
    const [rig, server] = await Promise.all([startRig(), start("redis")]);
    const held = hold();
    rig.model.script({ parts: [held.part] });
    rig.model.respondWith(() => think("done"));
    const file = rig.write("tasks.jsonl", prompts(6));
    const first = await startWorker(rig, server.url, 0);
    const args = ["--dataset_file", file, ...USUAL, "--queue", server.url];
    const run = rig.run(...args);
    await held.reached;
    const ended = once(first.process, "exit");
    first.process.kill("SIGTERM");
    expect((await ended)[0], first.report()).toBe(0);
    await startWorker(rig, server.url);
    await server.kill();
    await server.restart();
    expect(await run, rig.reported.join("")).toBe(0);
    held.release();
    const rows = rig.lines("batch_0.jsonl");
    expect(new Set(rows.map(({ prompt_index: index }) => index))).toEqual(new Set([0, 1, 2, 3, 4, 5]));
    expect(rows).toHaveLength(6);
    const queue = await openQueue(server.url, undefined);
    expect(await queue.jobs.getJobCounts("waiting", "active", "completed", "failed")).toEqual({
      waiting: 0,
      active: 0,
      completed: 0,
      failed: 0,
    });
    await queue.close();
  });

  test("keeps large payloads in parts, and removes them", async () => {
    const server = await start("redis");
    const queue = await openQueue(server.url, undefined);
    onTestFinished(() => queue.close());
    const text = "x".repeat(11_000_000);
    const carried = await queue.parts.store(text);
    expect(carried).toMatchObject({ count: 3 });
    expect((await queue.parts.load(carried)) === text).toBe(true);
    await queue.parts.remove(carried);
    await expect(queue.parts.load(carried)).rejects.toThrow("part 0 of a payload is missing");
    expect(await queue.parts.store("small")).toEqual({ text: "small" });
  });

  test("refuses a server that removes jobs, and warns about one that keeps no file", async () => {
    const [evicting, forgetful] = await Promise.all([
      startRedis("--maxmemory-policy", "allkeys-lru"),
      startRedis("--appendonly", "no"),
    ]);
    onTestFinished(() => Promise.all([evicting.stop(), forgetful.stop()]).then(() => undefined));
    await expect(openQueue(evicting.url, undefined)).rejects.toThrow(
      "maxmemory-policy allkeys-lru, which removes jobs",
    );
    const queue = await openQueue(forgetful.url, undefined);
    expect(queue.warnings.join()).toContain("Set appendonly yes");
    await queue.close();
  });

  test("is not available while its server is out of reach", async () => {
    const rig = await startRig();
    const file = rig.write("tasks.jsonl", prompts(1));
    expect(await rig.run("--dataset_file", file, ...USUAL, "--queue", "redis://127.0.0.1:1")).toBe(75);
    expect(await rig.run("--dataset_file", file, ...USUAL, "--resume", "--queue", "http://127.0.0.1:1")).toBe(2);
  });
});

test("Jobs are added by the thousand, under ids that BullMQ accepts", async () => {
  const sizes: number[] = [];
  const added = Array.from({ length: 2_500 }, (_, at) => ({
    name: "run",
    data: { text: "" },
    opts: { jobId: jobId("r", String(at)) },
  }));
  const addBulk = async (jobs: readonly unknown[]): Promise<never[]> => {
    sizes.push(jobs.length);
    return [];
  };
  await addJobs({ addBulk }, added);
  expect(sizes).toEqual([1_000, 1_000, 500]);
  expect(jobId("0f", "12")).toMatch(/^[a-z][^:]*$/);
});
