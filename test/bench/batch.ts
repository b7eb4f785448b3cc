/** A batch of tasks with one model call each, beside plain requests to the same model server. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startModelServer } from "../support/model-server/model-server.ts";
import { environmentOf, type Row } from "./measuring.ts";

const TASKS = 1_000;
const AT_ONCE = 8;
/** Time of an answer. A model that answers at once would measure only ourselves. Milliseconds. */
const ANSWER_MS = 150;

export async function measureBatch(): Promise<readonly Row[]> {
  const model = await startModelServer();
  model.respondWith(() => ({
    parts: [
      { type: "wait", until: new Promise((resolve) => setTimeout(resolve, ANSWER_MS)) },
      { type: "reasoning", text: "hm" },
      { type: "text", text: "done" },
    ],
  }));
  const folder = mkdtempSync(join(tmpdir(), "hermes-bench-batch-"));
  const home = join(folder, "home");
  mkdirSync(home);
  const file = join(folder, "tasks.jsonl");
  writeFileSync(file, Array.from({ length: TASKS }, (_, at) => `{"prompt": "task ${at}"}\n`).join(""));
  try {
    const floor = await plainRequests(model.baseUrl);
    const began = performance.now();
    const args = ["dist/cli.js", "batch", "--dataset_file", file, "--batch_size", "100", "--run_name", "r1"];
    const more = ["--out", join(folder, "data"), "--num_workers", String(AT_ONCE), "--distribution", "terminal_only"];
    const env = { ...process.env, ...environmentOf(model), HERMES_HOME: home, HERMES_LOCAL_SERVERS: "off" };
    const child = spawn("/usr/bin/env", ["bash", "-c", 'time "$@"', "time", process.execPath, ...args, ...more], {
      env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    let report = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      report += text;
    });
    const [code] = await once(child, "exit");
    if (code !== 0) throw new Error(`the batch ended with ${code}: ${report}`);
    const ours = performance.now() - began;
    const seconds = [...report.matchAll(/^(?:user|sys)\s+(\d+)m([\d.]+)s/gm)].map(
      ([, m, s]) => Number(m) * 60 + Number(s),
    );
    const own = (seconds.reduce((sum, each) => sum + each, 0) * 1_000) / TASKS;
    return [
      { what: `batch: ${TASKS} one-call tasks, ${AT_ONCE} at a time`, ours, floor, ratio: 1.25, unit: "ms" },
      { what: "batch: own processor time of a task", ours: own, target: 20, unit: "ms" },
    ];
  } finally {
    await model.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Time of the same number of requests without an agent. */
async function plainRequests(baseUrl: string): Promise<number> {
  const began = performance.now();
  let left = TASKS;
  const work = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const body = JSON.stringify({ model: "bench", stream: true, messages: [{ role: "user", content: "hi" }] });
      await (await fetch(`${baseUrl}/chat/completions`, { method: "POST", body })).text();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return performance.now() - began;
}
