import { createHash } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { tool as processTool } from "../../../../agent-core/tools/process.ts";
import { tool as terminal } from "../../../../agent-core/tools/terminal.ts";
import { sweep } from "../../../support/scale.ts";
import { toolBench } from "../../../support/tool-context.ts";

const COMMANDS = sweep(200, 50);

const bench = toolBench();
const quiet = { ...bench.context, show: () => undefined };

afterAll(async () => {
  await bench.context.processes.dispose();
  await bench.context.host.terminals.dispose();
  rmSync(bench.folder, { recursive: true });
});

let seed = 11;
const random = (limit: number): number => {
  seed = (seed * 1103515245 + 12345) % 2147483648;
  return seed % limit;
};

/** A command with known output and exit code: of all sizes, with and without line ends, in one and many pieces. */
function randomCommand(): { readonly command: string; readonly output: string; readonly code: number } {
  const code = random(5) === 0 ? random(256) : 0;
  const unit = ["x", "ü", "\u{1f600}", "word ", "line\n", "a\n\nb\n"][random(6)] ?? "";
  const count = [0, 1, 10, 1_000, 8_192, 60_000][random(6)] ?? 0;
  const script = `process.stdout.write(${JSON.stringify(unit)}.repeat(${count})); process.exitCode = ${code}`;
  const plain = `printf '%s' '${unit.repeat(Math.min(count, 1_000))}'; exit ${code}`;
  if (random(4) === 0) return { command: `node -e '${script}'`, output: unit.repeat(count), code };
  if (random(4) === 0)
    return {
      command: `set -e; printf '%s' '${unit}'; (exit ${code}); printf x`,
      output: code === 0 ? `${unit}x` : unit,
      code,
    };
  return { command: plain, output: unit.repeat(Math.min(count, 1_000)), code };
}

test(`${COMMANDS} commands of all sizes, eight at a time: every byte and every exit code is right`, async () => {
  const commands = Array.from({ length: COMMANDS }, randomCommand);
  const waiting = [...commands.entries()];
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, { command, output, code }] = next;
      const prepared = terminal.prepare({ command }, bench.folder);
      const staged = prepared.ok ? await prepared.call.stage({ ...bench.context, callId: `call_${index}` }) : prepared;
      if (!staged.ok) throw new Error(staged.text);
      const { ok, text } = await staged.run();
      expect(ok, command.slice(0, 200)).toBe(code === 0);
      expect(text, command.slice(0, 200)).toContain(`[exit code ${code}`);
      if (Buffer.byteLength(output) <= 50_000) {
        expect(text.slice(0, text.lastIndexOf("[exit code")).trimEnd()).toBe(output.trimEnd());
      }
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}, 120_000);

/** Without the bench, which keeps all that is shown. */
async function runCommand(input: object) {
  const prepared = terminal.prepare(input, bench.folder);
  const staged = prepared.ok ? await prepared.call.stage(quiet) : prepared;
  if (!staged.ok) throw new Error(staged.text);
  return staged.run();
}

async function fileOf(id: string): Promise<string> {
  const { text } = await bench.run(processTool, { action: "log", id, limit: 1 });
  return /file: (\S+)\]$/.exec(text)?.[1] ?? "";
}

function idIn(text: string): string {
  return /process log (p\d+)/.exec(text)?.[1] ?? "";
}

test("300 MB without a line end: both ends, every byte in the file, and memory stays flat", async () => {
  const before = process.memoryUsage().rss;
  const { text } = await runCommand({ command: "head -c 300000000 /dev/zero | tr '\\0' a; printf END" });
  expect(text).toMatch(/^a{20000}\n\n\[… 2999\d+ bytes omitted.*…\]\n\na+END\n\[exit code 0/);
  expect(process.memoryUsage().rss - before).toBeLessThan(250_000_000);
  const id = idIn(text);
  const { text: log } = await bench.run(processTool, { action: "log", id, offset: 1 });
  expect(log).toMatch(/^…a+END\n\[lines 1 to 1; file/);
  expect(
    createHash("sha256")
      .update(readFileSync(await fileOf(id)))
      .digest("hex"),
  ).toBe(
    createHash("sha256")
      .update(Buffer.concat([Buffer.alloc(300_000_000, "a"), Buffer.from("END")]))
      .digest("hex"),
  );
}, 120_000);

test("yes, until it is stopped: nothing stalls, the ends are there", async () => {
  const { text } = await runCommand({ command: "yes", timeout: 0.5 });
  expect(text).toMatch(/^y\ny\n/);
  expect(text).toMatch(/bytes omitted/);
  expect(text).toContain("stopped: timeout after 0.5 s");
}, 60_000);

test("a character that is written byte by byte is shown once, whole", async () => {
  const command = "for byte in '\\360' '\\237' '\\230' '\\200' '\\n'; do printf \"$byte\"; sleep 0.02; done";
  const first = bench.shown.length;
  const { text } = await bench.run(terminal, { command });
  expect(text).toMatch(/^\u{1f600}\n\[exit code 0/u);
  const live = bench.shown.slice(first).map((activity) => (activity.type === "output" ? activity.text : ""));
  expect(live.join("")).toBe("\u{1f600}\n");
});

test("a progress line of ten thousand redraws is one line", async () => {
  const { text } = await bench.run(terminal, {
    command: "for i in $(seq 1 10000); do printf '\\r%s%%' $i; done; echo",
  });
  expect(text).toMatch(/10000%/);
  expect(text.length).toBeLessThan(25_000);
});

test("bytes that are no text do no harm", async () => {
  const { text } = await bench.run(terminal, { command: "head -c 20000 /dev/urandom; exit 4" });
  expect(text).toContain("[exit code 4");
});
