import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { CommandRequest, RunningCommand } from "../../../agent-core/host/terminals/terminals.ts";
import { processesNaming, untilProcesses } from "../../support/processes.ts";
import { sweep } from "../../support/scale.ts";
import { type AgentSide, connectAgentSide, workspaceFolder } from "../support/agent-side.ts";

const COMMANDS = sweep(200, 48);
const AT_ONCE = 25;

// The agent's commands in terminals of a real VS Code: nothing of their output is lost, no exit code is wrong.
suite("terminals", () => {
  const spill = join(workspaceFolder(), ".terminals-suite");
  const { signal } = new AbortController();
  let side: AgentSide;
  let count = 0;

  suiteSetup(async () => {
    side = await connectAgentSide();
  });

  suiteTeardown(async () => {
    await side.dispose();
    rmSync(spill, { recursive: true, force: true });
  });

  type Started = { readonly running: RunningCommand; readonly file: string };

  async function start(command: string, more: Partial<CommandRequest> = {}): Promise<Started> {
    count += 1;
    const outputFile = join(spill, `${count}.txt`);
    const shell = { folder: workspaceFolder(), variables: undefined };
    const request = { command, shell, keepsShell: false, input: "none", pty: false, outputFile, ...more } as const;
    return { running: await side.host.terminals.start(request, signal), file: outputFile };
  }

  /** Runs to the end; `bytes` is what the command wrote, as the output file has it. */
  async function run(command: string, more: Partial<CommandRequest> = {}) {
    const { running, file } = await start(command, more);
    const exit = await running.exit;
    const output = await running.output();
    await running.release();
    return { exit, output, bytes: readFileSync(file) };
  }

  test("output is complete from the first line to the last, with the command's exit code", async () => {
    const { exit, output, bytes } = await run("echo first; seq 2 999; echo last; exit 3");
    assert.deepEqual(exit, { exitCode: 3, signal: null });
    const lines = bytes.toString().trimEnd().split("\n");
    assert.equal(lines.length, 1000);
    assert.equal(lines[0], "first");
    assert.equal(lines.at(-1), "last");
    assert.equal(output.head, bytes.toString());
  });

  test("output has both streams", async () => {
    const { bytes } = await run("echo out; echo err >&2");
    assert.deepEqual(bytes.toString().trim().split("\n").sort(), ["err", "out"]);
  });

  test("a megabyte arrives whole; head and tail name the omitted size", async () => {
    const { exit, output, bytes } = await run("head -c 1048576 /dev/zero | tr '\\0' x; echo; echo END");
    assert.deepEqual(exit, { exitCode: 0, signal: null });
    assert.equal(bytes.length, 1_048_576 + 5);
    assert.ok(output.tail.endsWith("x\nEND\n"));
    const ends = Buffer.byteLength(output.head) + Buffer.byteLength(output.tail);
    assert.equal(output.totalBytes, bytes.length);
    assert.equal(output.omittedBytes, bytes.length - ends);
  });

  test("a character that comes in two pieces stays one", async () => {
    const { output } = await run("printf '\\342\\202'; sleep 0.1; printf '\\254uro\\n'");
    assert.equal(output.head, "€uro\n");
  });

  test("an unknown command is reported with the shell's exit code", async () => {
    const { exit, output } = await run("no-such-program-here");
    assert.equal(exit.exitCode, 127);
    assert.match(output.head, /no-such-program-here/);
  });

  test("a folder that does not exist is an error, not a wait", async () => {
    await assert.rejects(start("true", { shell: { folder: join(spill, "nowhere"), variables: undefined } }));
  });

  test("no pager waits for a key", async () => {
    const { output } = await run('echo "$PAGER $GIT_PAGER"');
    assert.equal(output.head, "cat cat\n");
  });

  test("killing ends the command and all its processes, also outside its group", async () => {
    const seconds = 86_400 + process.pid;
    const { running } = await start(`setsid sleep ${seconds} & sleep ${seconds} & echo ready; wait`);
    await side.printed(running.terminalId, "ready");
    await untilProcesses(seconds, (count) => count >= 3);
    await running.kill();
    const exit = await running.exit;
    assert.notEqual(exit.exitCode, 0);
    assert.deepEqual(processesNaming(seconds), []);
    await running.release();
  });

  test("a command that ignores the first signal is killed", async () => {
    const { running } = await start("trap '' TERM; echo ready; while :; do sleep 0.2; done");
    await side.printed(running.terminalId, "ready");
    await running.kill();
    assert.equal((await running.exit).signal, "SIGKILL");
    await running.release();
  });

  test("commands that run at the same time lose no byte and report the right exit code", async () => {
    const began = performance.now();
    const sizes = Array.from({ length: COMMANDS }, (_, index) => [0, 1, 80, 4_096, 65_537, 300_001][index % 6] ?? 0);
    const wrong: string[] = [];
    await eachOf(sizes, AT_ONCE, async (size, index) => {
      const code = (index * 37) % 256; // every code once in 256 commands
      const { exit, bytes } = await run(`head -c ${size} /dev/zero | tr '\\0' y; printf 'end ${index}'; exit ${code}`);
      const text = bytes.toString();
      if (exit.exitCode !== code || text !== `${"y".repeat(size)}end ${index}`) {
        wrong.push(`command ${index}: exit code ${exit.exitCode}, ${bytes.length} of ${size} bytes and its end`);
      }
    });
    assert.deepEqual(wrong, []);
    console.log(`[suite]     ${COMMANDS} commands, ${AT_ONCE} at a time: ${Math.round(performance.now() - began)} ms`);
  }).timeout(180_000);
});

/** Runs `work` for every item, `width` at a time. */
async function eachOf<Item>(
  items: readonly Item[],
  width: number,
  work: (item: Item, index: number) => Promise<void>,
): Promise<void> {
  const queue = items.entries();
  const lane = async (): Promise<void> => {
    for (const [index, item] of queue) await work(item, index);
  };
  await Promise.all(Array.from({ length: width }, lane));
}
