// `hermes cron` in real processes: create, tick, two ticks at once, and a process that is killed during a run.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { say, startModelServer } from "../support/model-server/model-server.ts";

const HOUR = 3_600_000;

async function commandLine() {
  const model = await startModelServer();
  onTestFinished(() => model.stop());
  const home = mkdtempSync(join(tmpdir(), "hermes-cron-home-"));
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    HERMES_HOME: home,
    HERMES_LOCAL_SERVERS: "off",
    TZ: "Europe/Berlin",
    HERMES_BASE_URL: model.baseUrl,
    HERMES_MODEL: "m",
    HERMES_API_KEY: "sk-test-123456",
  };
  const start = (...args: readonly string[]): ChildProcess => spawn("node", ["dist/cli.js", ...args], { env });
  const run = async (...args: readonly string[]): Promise<{ stdout: string; stderr: string; code: number }> =>
    promisify(execFile)("node", ["dist/cli.js", ...args], { env }).then(
      (done) => ({ ...done, code: 0 }),
      (failed: { stdout: string; stderr: string; code: number }) => failed,
    );
  return { model, home, start, run };
}

/** Moves the creation of the jobs into the past, so that they are due. */
function makeDue(home: string): void {
  const path = join(home, "cron", "jobs.json");
  const past = new Date(Date.now() - 1.001 * HOUR).toISOString();
  writeFileSync(path, readFileSync(path, "utf8").replaceAll(/"(from|since)": "[^"]+"/g, `"$1": "${past}"`));
}

test("two processes that tick at once run a due job once, with one line for it", async () => {
  const { model, home, start, run } = await commandLine();
  const created = await run("cron", "create", "every 1h", "Count the files.", "--name", "count", "--cwd", home);
  expect(created.stdout).toMatch(
    /^Created the job "count"\. Next run: \d{4}-\d\d-\d\d \d\d:\d\d \(Europe\/Berlin\)\.\n$/,
  );
  makeDue(home);
  model.respondWith(() => say("There are three.\nThat is all."));
  const ticks = [start("cron", "tick"), start("cron", "tick")];
  const ended = ticks.map(async (child) => {
    const outputs = [child.stdout, child.stderr].map((stream) => stream && text(stream));
    const [[out, log], [code]] = await Promise.all([Promise.all(outputs), once(child, "exit")]);
    return { out, log, code };
  });
  const results = await Promise.all(ended);
  expect(
    results.map(({ code }) => code),
    results.map(({ log }) => log).join(""),
  ).toEqual([0, 0]);
  expect(results.map(({ out }) => out).join("")).toMatch(
    /^count: completed \S+ \S+ \(Europe\/Berlin\) · There are three\. · \S+\.md\n$/,
  );
  expect(model.requests).toHaveLength(1);
  expect((await run("cron", "tick")).stdout).toBe("");
});

test("a run whose process is killed is unknown, is said once and is not repeated", async () => {
  const { model, home, start, run } = await commandLine();
  await run("cron", "create", "every 1h", "Count the files.", "--name", "count", "--cwd", home);
  makeDue(home);
  const asked = model.nextRequest();
  model.script({ silent: true });
  const child = start("cron", "tick");
  await asked;
  child.kill("SIGKILL");
  await once(child, "exit");
  model.forget();
  const after = await run("cron", "tick");
  expect(after.stdout).toMatch(/^count: unknown .*Its process ended before the run did/);
  expect(after.code).toBe(1);
  expect(await run("cron", "tick")).toMatchObject({ stdout: "", code: 0 });
  expect(model.requests).toHaveLength(0);
  expect((await run("cron", "status")).stdout).toContain("- count: unknown");
});

test("the command line names what is wrong", async () => {
  const { home, run } = await commandLine();
  expect(await run("cron", "create", "every tuesday", "x")).toMatchObject({
    stdout: "",
    stderr: expect.stringContaining('schedule "every tuesday": expected 30m (once'),
    code: 1,
  });
  expect(await run("learning", "report")).toEqual(
    expect.objectContaining({ stdout: "", stderr: "hermes: there is no health report yet.\n", code: 1 }),
  );
  expect(await run("cron", "pause")).toMatchObject({
    stderr: expect.stringContaining("cron pause needs a job"),
    code: 2,
  });
  const { stdout } = await run("learning", "state");
  expect(stdout).toContain("Nothing has been learnt yet.");
  rmSync(join(home, "learning"), { recursive: true, force: true });
  writeFileSync(join(home, "learning"), "");
  expect((await run("learning", "run")).stderr).toMatch(/^hermes: E[A-Z]+: .*\n$/);
});
