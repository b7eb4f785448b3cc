import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tool as process } from "../../../agent-core/tools/process.ts";
import { tool as terminal } from "../../../agent-core/tools/terminal.ts";
import { observed } from "../../support/observed.ts";
import { isAlive } from "../../support/processes.ts";
import { toolBench } from "../../support/tool-context.ts";

test("the tool gives output of both streams in order, and the exit code", async () => {
  const bench = toolBench();
  const result = await bench.run(terminal, { command: "echo one; echo two >&2; echo three; exit 3" });
  expect(result.ok).toBe(false);
  expect(result.text).toMatch(/^one\ntwo\nthree\n\[exit code 3, /);
});

test("output by its device names arrives, in order", async () => {
  const command = "echo one; echo two | tee /dev/stderr; echo three > /dev/stdout; echo four > /dev/stderr";
  expect((await toolBench().run(terminal, { command })).text).toMatch(/^one\ntwo\ntwo\nthree\nfour\n\[exit code 0/);
});

test("the tool says what exit codes mean", async () => {
  const bench = toolBench();
  expect((await bench.run(terminal, { command: "no-such-program-here" })).text).toContain("127: command not found");
  expect((await bench.run(terminal, { command: "grep x /dev/null" })).text).toContain("1: no match");
});

test("a command that waits for input becomes a process that can be answered", async () => {
  const bench = toolBench();
  const asked = await bench.run(terminal, { command: 'printf "Name? "; read name; echo "Hello $name"; exit 4' });
  expect(asked.text).toMatch(/^Name\?\n\[waits for input as p1: answer with process write/);
  const answered = await observed(() => bench.run(process, { action: "write", id: "p1", data: "Ada\n" }));
  expect(answered.text).toMatch(/^p1 has ended: exit code 4, \d+ s: printf .*\nHello Ada$/s);
});

test("input by its device name is there", async () => {
  const bench = toolBench();
  await bench.run(terminal, { command: "head -1 < /dev/stdin; echo read", background: true });
  const { text } = await observed(() => bench.run(process, { action: "write", id: "p1", data: "typed\n" }));
  expect(text).toMatch(/exit code 0.*\ntyped\nread$/s);
});

test("a search of ripgrep's kind is given no input that it would take for the text to search", async () => {
  const bench = toolBench();
  writeFileSync(join(bench.folder, "a.txt"), "needle\n");
  const rg = "rg() { if [ -c /dev/stdin ]; then grep -r needle .; else cat; fi; }";
  expect((await bench.run(terminal, { command: `${rg}; rg needle` })).text).toContain("a.txt:needle");
});

test("100 MB of output: both ends for the model, every byte in the file", async () => {
  const bench = toolBench();
  const result = await bench.run(terminal, { command: "yes 0123456789 | head -c 100000000; echo; echo last" });
  expect(result.ok).toBe(true);
  expect(result.text.length).toBeLessThan(60_000);
  expect(result.text).toContain("bytes omitted");
  expect(result.text).toContain("\nlast\n");
  const file = /file: (\S+)\]$/.exec((await bench.run(process, { action: "log", id: "p1", limit: 1 })).text)?.[1];
  expect(statSync(file ?? "").size).toBe(100_000_006);
  rmSync(bench.folder, { recursive: true });
}, 60_000);

test("a command that never ends is stopped after its timeout, with all it started", async () => {
  const bench = toolBench();
  const command = "setsid sleep 987 & echo $! > pid; sleep 986";
  const result = await bench.run(terminal, { command, timeout: 0.5 });
  expect(result.text).toContain("stopped: timeout after 0.5 s");
  const pid = Number(readFileSync(join(bench.folder, "pid"), "utf8"));
  expect(isAlive(pid)).toBe(false);
});

test("a cancelled command is stopped", async () => {
  const bench = toolBench();
  const running = bench.run(terminal, { command: "echo begun; sleep 985" });
  await expect.poll(() => bench.shown.length).toBeGreaterThan(0);
  bench.cancel.abort();
  expect((await running).text).toContain("stopped by the user");
});

test("an empty command and a missing folder are explained", async () => {
  const bench = toolBench();
  expect((await bench.run(terminal, { command: "  " })).text).toContain("must not be empty");
  expect((await bench.run(terminal, { command: "ls", workdir: "nowhere" })).text).toContain("does not exist");
});

test("a session's folder that is gone is named, without advice to call again", async () => {
  const bench = toolBench();
  rmSync(bench.folder, { recursive: true });
  const { text } = await bench.run(terminal, { command: "ls" });
  expect(text).toContain(`the session's folder ${bench.folder} does not exist`);
});
