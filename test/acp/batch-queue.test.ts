// The bundled command line with a real queue: coordinator and worker as programs of their own.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../support/acp-client.ts";
import { startModelServer } from "../support/model-server/model-server.ts";
import { hasPrograms } from "../support/programs.ts";
import { startPostgres, startRedis } from "../support/queue-servers.ts";

const TASKS = 6;

test.runIf(hasPrograms("redis-server", "postgres")).each([
  ["Redis", startRedis],
  ["PostgreSQL", startPostgres],
] as const)(
  "The bundled batch gives its tasks over %s to a bundled worker",
  async (_, startServer) => {
    const [model, server] = await Promise.all([startModelServer(), startServer()]);
    onTestFinished(() => Promise.all([model.stop(), server.stop()]).then(() => undefined));
    model.respondWith(() => ({
      parts: [
        { type: "reasoning", text: "hm" },
        { type: "text", text: "done" },
      ],
    }));
    const folder = temporaryFolder("hermes-batch-");
    let said = "";
    const hermes = (name: string, ...args: readonly string[]): ChildProcess => {
      const home = join(folder, name);
      mkdirSync(home);
      const models = { HERMES_BASE_URL: model.baseUrl, HERMES_MODEL: "m", HERMES_API_KEY: "sk-test-123456" };
      const env = { PATH: process.env["PATH"], HOME: home, HERMES_HOME: home, HERMES_LOCAL_SERVERS: "off", ...models };
      const stdio = ["ignore", "ignore", "pipe"] as const;
      const child = spawn("node", [join(process.cwd(), "dist/cli.js"), ...args], {
        env,
        cwd: folder,
        stdio: [...stdio],
      });
      child.stderr?.on("data", (text) => {
        said += text;
      });
      return child;
    };
    writeFileSync(
      join(folder, "tasks.jsonl"),
      Array.from({ length: TASKS }, (_each, at) => `{"prompt": "task ${at}"}\n`).join(""),
    );
    const worker = hermes("far", "worker", "--queue", server.url, "--concurrency", "2");
    const run = ["--dataset_file", "tasks.jsonl", "--batch_size", "3", "--run_name", "r1", "--queue", server.url];
    const [code] = await once(hermes("near", "batch", ...run, "--distribution", "terminal_only"), "exit");
    expect(code, said).toBe(0);
    const lines = readFileSync(join(folder, "data/r1/trajectories.jsonl"), "utf8").trim().split("\n");
    expect(lines.map((line) => JSON.parse(line).prompt_index).sort()).toEqual([0, 1, 2, 3, 4, 5]);
    worker.kill("SIGTERM");
    expect(await once(worker, "exit")).toEqual([0, null]);
  },
  60_000,
);
