// Programs that leave the process group of their parent end with it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { startGroup } from "../../../../agent-core/platform/children/group-process.ts";
import { runFilter } from "../../../../agent-core/platform/children/run-filter.ts";
import { processesSleeping } from "../../../support/processes.ts";

const PATH = process.env["PATH"] ?? "";
const env = { PATH };

/** A server with a child in a session of its own, which reads its stdin to the end. */
const server = (seconds: number) => ({
  command: "sh",
  args: ["-c", `setsid sleep ${seconds} <&- >&- 2>&- & echo started; exec cat`],
  env,
  cwd: "/",
});

/** Seconds that only this run of this test sleeps. */
const nap = (test: number) => Number(`5${process.pid}${test}`);

const gone = (seconds: number) => expect.poll(() => processesSleeping(seconds)).toEqual([]);

test("no program is left of a server that ends", async () => {
  const running = await startGroup(server(nap(1)));
  await once(running.stdout, "data");
  await expect.poll(() => processesSleeping(nap(1)).length).toBe(1);
  await running.end();
  await gone(nap(1));
});

test("no program is left of a server that crashes", async () => {
  const running = await startGroup(server(nap(4)));
  await once(running.stdout, "data");
  await expect.poll(() => processesSleeping(nap(4)).length).toBe(1);
  await running.note();
  running.stdin.end(); // `cat` ends
  await running.ended;
  await running.end();
  await gone(nap(4));
});

test("no program is left of a server whose agent was killed", async () => {
  const module = new URL("../../../../agent-core/platform/children/group-process.ts", import.meta.url).href;
  const start = JSON.stringify(server(nap(2)));
  const script = `const { startGroup } = await import(${JSON.stringify(module)});
    const running = await startGroup(${start});
    running.stdout.once("data", () => console.log("ready"));`;
  const agent = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(agent.stdout, "data");
  await expect.poll(() => processesSleeping(nap(2)).length).toBe(1);
  agent.kill("SIGKILL");
  await gone(nap(2));
});

test("no program is left of a hook", async () => {
  const request = { program: "sh", cwd: "/", env, input: "", maxOutput: 1_000 };
  const args = ["-c", `setsid sleep ${nap(3)} <&- >&- 2>&- & exit 0`];
  await runFilter({ ...request, args }, AbortSignal.timeout(5_000));
  await gone(nap(3));
});
