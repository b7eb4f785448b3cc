import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { tool as processTool } from "../../../agent-core/tools/process.ts";
import { tool as terminal } from "../../../agent-core/tools/terminal.ts";
import { answeredWith, observed } from "../../support/observed.ts";
import { isAlive } from "../../support/processes.ts";
import { type Bench, toolBench } from "../../support/tool-context.ts";

const benches: Bench[] = [];

afterEach(async () => {
  for (const { context } of benches.splice(0)) {
    await context.processes.dispose();
    await context.host.terminals.dispose();
  }
});

function bench(): Bench {
  const made = toolBench();
  benches.push(made);
  return made;
}

/** Begins one that has `printed` something, which is nothing new then, and gives its id. */
async function background(on: Bench, command: string, printed = "", more: object = {}): Promise<string> {
  const seen = on.shown.length;
  const hasPrinted = (): boolean => {
    const pieces = on.shown.slice(seen).map((shown) => (shown.type === "output" ? shown.text : ""));
    return pieces.join("").includes(printed);
  };
  const { text } = await observed(() => on.run(terminal, { command, background: true, ...more }), hasPrinted);
  const id = /\bp\d+/.exec(text)?.[0] ?? text;
  // A terminal shows output before the file has it.
  for (let reported = text; !reported.includes(printed); ) reported = (await act(on, "poll", id)).text;
  return id;
}

/** Writes to one, which ends by that. */
function ended(on: Bench, id: string, data: string) {
  return observed(() => act(on, "write", id, { data }));
}

function act(on: Bench, action: string, id?: string, more: object = {}) {
  return on.run(processTool, { action, ...(id !== undefined && { id }), ...more });
}

test("a background command goes on: listed, polled for what is new, and killed with all it started", async () => {
  const on = bench();
  expect((await act(on, "list")).text).toBe("No command runs in the background.");
  const id = await background(on, "setsid sleep 876 & echo $! > pid; echo begun; exec tail -f /dev/null", "begun");
  expect(id).toBe("p1");
  expect((await act(on, "list")).text).toMatch(/^p1 runs, \d+ s: setsid sleep 876/);
  expect((await act(on, "poll", id)).text).toContain("[no new output]");
  const pid = Number(readFileSync(join(on.folder, "pid"), "utf8"));
  expect(isAlive(pid)).toBe(true);
  expect((await act(on, "kill", id)).text).toMatch(/^p1 has ended: ended by signal SIG(TERM|KILL)/);
  expect(isAlive(pid)).toBe(false);
});

test("poll gives each piece of output once", async () => {
  const on = bench();
  const id = await background(on, "while read line; do echo got $line; done");
  expect((await answeredWith("got one", on, id, "one\n")).text).toContain("\ngot one");
  expect((await answeredWith("got two", on, id, "two\n")).text).toMatch(/waits for input.*\ngot two$/s);
  expect((await act(on, "poll", id)).text).toContain("[no new output]");
  expect((await ended(on, id, "three\n\u0004")).text).toMatch(/^p1 has ended: exit code 0.*\ngot three$/s);
  expect((await act(on, "write", id, { data: "four\n" })).ok).toBe(false);
});

test("Ctrl+C interrupts as in a terminal", async () => {
  const on = bench();
  const id = await background(
    on,
    "trap 'echo interrupted; exit 5' INT; echo ready; while :; do sleep 0.1; done",
    "ready",
  );
  const { text } = await ended(on, id, "\u0003");
  expect(text).toMatch(/exit code 5.*\ninterrupted$/s);
});

test("wait ends when the command does, when it asks, when its time is over, and when the turn is cancelled", async () => {
  const on = bench();
  const ends = await background(on, "sleep 1.2; echo done; exit 3");
  expect((await act(on, "wait", ends)).text).toMatch(/exit code 3.*\ndone$/s);
  const asks = await background(on, "sleep 1.2; printf 'Sure? '; read answer");
  expect((await act(on, "wait", asks)).text).toMatch(/waits for input.*\nSure\?$/s);
  const long = await background(on, "tail -f /dev/null");
  expect((await act(on, "wait", long, { timeout: 0.1 })).text).toMatch(/^p3 runs/);
  const waiting = act(on, "wait", long);
  on.cancel.abort();
  expect((await waiting).text).toMatch(/^p3 runs/);
});

test("a command that fails at once is told of at once, and is no process", async () => {
  const on = bench();
  const { ok, text } = await observed(() => on.run(terminal, { command: "no-such-server", background: true }));
  expect(ok).toBe(false);
  expect(text).toContain("127: command not found");
  expect(on.context.processes.list()).toEqual([]);
});

test("the end of a process is told once, and not when the model has seen it", async () => {
  const on = bench();
  const id = await background(on, "read x; exit 2");
  expect(await on.context.processes.notices()).toEqual([]);
  await on.context.processes.find(id)?.running.write("go\n");
  await on.context.processes.find(id)?.running.exit;
  expect(await on.context.processes.notices()).toEqual([
    expect.stringMatching(/^\[p1 has ended: exit code 2, \d+ s: read x; exit 2\]$/),
  ]);
  expect(await on.context.processes.notices()).toEqual([]);
  const seen = await background(on, "read x");
  await ended(on, seen, "go\n");
  expect(await on.context.processes.notices()).toEqual([]);
});

test("an ended process is freed, and its output can be read all the same", async () => {
  const on = bench();
  const id = await background(on, "echo begun; read x; echo ended");
  const { running } = on.context.processes.find(id)!;
  const release = vi.spyOn(running, "release");
  await on.context.processes.notices();
  expect(release).not.toHaveBeenCalled();
  await ended(on, id, "go\n");
  await on.context.processes.notices();
  await on.context.processes.notices();
  expect(release).toHaveBeenCalledTimes(1);
  expect((await act(on, "log", id)).text).toMatch(/^begun\nended\n/);
  expect((await act(on, "kill", id)).text).toContain("p1 has ended: exit code 0");
});

test("watched texts are told of, a flood of them in short", async () => {
  const on = bench();
  const id = await background(
    on,
    'echo "Listening on 80"; read x; for i in 1 2 3 4 5; do echo "ERROR $i"; done; read y',
    "Listening",
    { watch: ["listening", "error"] },
  );
  expect(await on.context.processes.notices()).toEqual(["[p1 printed: Listening on 80]"]);
  await answeredWith("ERROR 5", on, id, "go\n");
  expect(await on.context.processes.notices()).toEqual([
    "[p1 printed: ERROR 1]",
    "[p1 printed: ERROR 2]",
    "[p1 printed: ERROR 3]",
    "[p1 printed: … and 2 more lines]",
  ]);
});

test("a watched line is hidden like other output before it is shortened", async () => {
  const on = bench();
  const long = `error: ${"-".repeat(285)} correct-horse-7`;
  await background(on, `echo "${long}"; read x`, "correct-horse-7", { watch: ["error"] });
  const hide = async (text: string): Promise<string> => text.replaceAll("correct-horse-7", "[hidden]");
  expect(await on.context.processes.notices(hide)).toEqual([
    `[p1 printed: error: ${"-".repeat(285)} [hidden]`.slice(0, 313) + "]",
  ]);
});

test("a watched text that is printed during a check is told of once", async () => {
  const on = bench();
  const id = await background(on, 'echo "Listening on 80"; read x', "Listening", { watch: ["listening"] });
  const running = on.context.processes.find(id)?.running;
  if (running === undefined) throw new Error("no process");
  vi.spyOn(running, "read").mockResolvedValueOnce({ text: "", nextByte: 0, totalBytes: 0 }); // before it was printed
  expect(await on.context.processes.notices()).toEqual(["[p1 printed: Listening on 80]"]);
  expect(await on.context.processes.notices()).toEqual([]);
});

test("a program that a command leaves running is a process, not a stray", async () => {
  const on = bench();
  const { text } = await on.run(terminal, { command: "sleep 875 & echo $! > pid; echo started" });
  expect(text).toMatch(/^started\n\[exit code 0, .*a program that it started still runs as p1/);
  expect((await act(on, "poll", "p1")).text).toContain("p1 has ended, but a program that it started still runs");
  const pid = Number(readFileSync(join(on.folder, "pid"), "utf8"));
  await act(on, "kill", "p1");
  expect(isAlive(pid)).toBe(false);
});

test("log reads any lines of any output, also of one that has ended", async () => {
  const on = bench();
  const { text } = await on.run(terminal, { command: "seq 1 200000" });
  expect(text).toContain("process log p1 shows any part of it");
  expect((await act(on, "log", "p1", { offset: 150_000, limit: 2 })).text).toMatch(
    /^150000\n150001\n\[lines 150000 to 150001, more from offset 150002; file: /,
  );
  expect((await act(on, "log", "p1", { limit: 2 })).text).toMatch(/^199999\n200000\n\[the last 2 lines/);
  expect((await act(on, "log", "p1", { offset: 199_999, limit: 5 })).text).toMatch(
    /^199999\n200000\n\[lines 199999 to 200000; file/,
  );
});

test("at most 16 run at the same time, and the session's end ends them all", async () => {
  const on = bench();
  const started = Array.from({ length: 16 }, (_, index) => {
    const context = { ...on.context, callId: `call_${index}` };
    return startIn(context, "tail -f /dev/null");
  });
  await Promise.all(started);
  expect((await on.run(terminal, { command: "sleep 1", background: true })).text).toContain(
    "16 commands already run in the background",
  );
  const pids = on.context.processes.list().map(({ running }) => running);
  await on.context.processes.dispose();
  for (const running of pids) expect(await running.hasSurvivors()).toBe(false);
});

test("input is judged as it would be in a pipe; a bare answer and a stop are not", async () => {
  const on = bench();
  writeFileSync(join(on.folder, "ask.sh"), "read x; read y");
  const id = await background(on, "cat; bash ask.sh");
  const view = { folder: on.folder, process: (name: string) => on.context.processes.find(name) };
  const effect = (input: object) => {
    const prepared = processTool.prepare({ id, ...input }, on.folder, view);
    return prepared.ok ? prepared.call.effect : prepared.text;
  };
  expect(effect({ action: "write", data: "rm -rf 'x'\n" })).toEqual({
    kind: "command",
    command: "printf '%s' 'rm -rf '\\''x'\\''\n' | {\ncat; bash ask.sh\n}",
    cwd: on.folder,
  });
  for (const none of [{ action: "write", data: "\n\u0004" }, { action: "write", data: "\u0003" }, { action: "kill" }]) {
    expect(effect(none)).toEqual({ kind: "none" });
  }
});

test("an unknown id, a missing id and missing data are explained", async () => {
  const on = bench();
  expect((await act(on, "poll", "p9")).text).toContain('no process "p9"; no process exists');
  expect((await act(on, "poll")).text).toContain("id: is needed");
  expect((await act(on, "write", "p1")).text).toContain("data: is needed");
});

test("pty: a real terminal, its input, its size and its exit code", async () => {
  const on = bench();
  const id = await background(
    on,
    "tty; stty size; read -p 'Name? ' name; echo \"Hello $name\"; export KEPT=no; exit 6",
    "Name? ",
    { pty: true },
  );
  const shown = (await act(on, "log", id)).text;
  expect(shown).toMatch(/^\/dev\/pts\/\d+\n24 80\nName\? /);
  expect(shown).not.toContain("SHELL=");
  expect((await ended(on, id, "Ada\n")).text).toMatch(/exit code 6.*Hello Ada$/s);
  const whole = await on.run(terminal, { command: "[ -t 1 ] && cd / && export A=1 && echo yes; exit 5", pty: true });
  expect(whole.text).toMatch(/^yes\n\[exit code 5, .*the shell is in \/ now/);
  expect((await on.run(terminal, { command: "echo $A $TERM" })).text).toMatch(/^1 dumb\n/);
  expect((await on.run(terminal, { command: "echo $A $TERM", pty: true })).text).toMatch(/^1 xterm-256color\n/);
});

async function startIn(context: Bench["context"], command: string): Promise<void> {
  const prepared = terminal.prepare({ command, background: true }, context.cwd);
  const staged = prepared.ok ? await prepared.call.stage(context) : prepared;
  if (!staged.ok) throw new Error(staged.text);
  await staged.run();
}
