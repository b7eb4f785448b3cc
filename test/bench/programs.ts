/** Programs that answer one prompt and end: the headless agent, and the floor beside it. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ModelServer, startModelServer } from "../support/model-server/model-server.ts";
import { environmentOf } from "./measuring.ts";

/** One run. Times as `performance.now()` gives them. */
export type Run = {
  readonly startedAt: number;
  readonly endedAt: number;
  /** Processor time until the first request, in milliseconds. */
  readonly processorMs: number;
  /** Largest resident memory, in MB, as it was when the answer's last byte was written; 0 where the kernel tells none. */
  readonly peakMb: number;
};

export type Programs = {
  readonly model: ModelServer;
  /** A small file to read. */
  readonly file: string;
  /** Both run one prompt to their end. */
  ours(): Promise<Run>;
  floor(): Promise<Run>;
};

/** `config` is the text of config.yaml in the agent's home; default: there is no such file. */
export async function withPrograms<Value>(
  work: (programs: Programs) => Promise<Value>,
  config?: string,
): Promise<Value> {
  const model = await startModelServer();
  const folder = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  const home = join(folder, "home");
  const cwd = join(folder, "work");
  mkdirSync(home);
  mkdirSync(cwd);
  if (config !== undefined) writeFileSync(join(home, "config.yaml"), config);
  const file = join(cwd, "a.txt");
  writeFileSync(file, "one\ntwo\nthree\n");
  const environment = { HOME: home, HERMES_HOME: home, HERMES_LOCAL_SERVERS: "off", ...environmentOf(model) };
  try {
    return await work({
      model,
      file,
      ours: () => run(["dist/cli.js", "--yes", "--cwd", cwd, "go"], model, environment),
      floor: () => run(["test/bench/floor.mjs", model.baseUrl, "go"], model, environment),
    });
  } finally {
    await model.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function run(args: readonly string[], model: ModelServer, environment: NodeJS.ProcessEnv): Promise<Run> {
  model.forget();
  const startedAt = performance.now();
  // Not piped: the reader of a pipe would compete with the model server for this process.
  const child = spawn("node", args, {
    env: { PATH: process.env["PATH"], TMPDIR: process.env["TMPDIR"], ...environment },
    stdio: ["ignore", "ignore", "ignore"],
  });
  const ended = Promise.withResolvers<number>();
  child.once("exit", (code) => {
    if (code === 0) ended.resolve(performance.now());
    else ended.reject(new Error(`node ${args.join(" ")} ended with ${code}`));
  });
  await Promise.race([model.nextRequest(), ended.promise]);
  const processorMs = processorTime(child.pid);
  let peakMb = 0;
  const looking = setInterval(() => {
    peakMb = Math.max(peakMb, peakMemory(child.pid));
  }, 20);
  const endedAt = await ended.promise.finally(() => clearInterval(looking));
  return { startedAt, endedAt, processorMs, peakMb };
}

/** Milliseconds that all threads of a process have run; 0 where there is no such file. */
export function processorTime(pid: number | undefined): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const spent = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
    return spent.reduce((sum, nanoseconds) => sum + Number(nanoseconds), 0) / 1e6;
  } catch {
    return 0;
  }
}

/** Largest resident memory of a process so far, in MB; 0 where there is no such file. */
export function peakMemory(pid: number | undefined): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1_024;
  } catch {
    return 0;
  }
}
