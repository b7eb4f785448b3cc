import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tool as terminal } from "../../../../agent-core/tools/terminal.ts";
import { type Bench, toolBench } from "../../../support/tool-context.ts";

async function run(bench: Bench, command: string, more: object = {}): Promise<string> {
  return (await bench.run(terminal, { command, ...more })).text;
}

/** State of the shell that the next command finds. */
async function state(bench: Bench): Promise<string> {
  return (await run(bench, 'echo "$PWD|${A-unset}|${B-unset}"')).split("\n")[0]!.replace(bench.folder, "~");
}

test("folder and exported variables outlive a command, and the model is told of a new folder", async () => {
  const bench = toolBench();
  mkdirSync(join(bench.folder, "sub"));
  const text = await run(bench, "cd sub; export A='two words \"quoted\" $HOME'; B=not-exported");
  expect(text).toContain(`the shell is in ${bench.folder}/sub now; file tools still start from ${bench.folder}`);
  expect(await state(bench)).toBe('~/sub|two words "quoted" $HOME|unset');
  await run(bench, "cd ..; unset A");
  expect(await state(bench)).toBe("~|unset|unset");
});

test.each([
  ["exit", "cd sub; export A=1; exit 7", 7],
  ["set -e", "set -e; cd sub; export A=1; false; echo never", 1],
  ["set -u", "set -u; cd sub; export A=1; echo $nothing", 1],
  ["set -x, set -C, set -f", "set -xCf; cd sub; export A=1; exit 3", 3],
  ["a syntax error after it", "cd sub; export A=1\nif then", 2],
  ["a syntax error in a later line only", "cd sub; export A=1\n(exit 5)", 5],
  ["an EXIT trap of its own", "trap 'echo bye; rm -f x' EXIT; cd sub; export A=1; exit 6", 6],
  ["an EXIT trap that is taken back", "trap 'echo no' EXIT; trap - EXIT; cd sub; export A=1; exit 9", 9],
  ["a trap in a subshell", "cd sub; export A=1; (trap 'echo inner' EXIT; cd /; export A=2; exit 8)", 8],
  ["a background job", "cd sub; export A=1; sleep 0.05 & true", 0],
  ["closed output", "cd sub; export A=1; exec >&- 2>&-; exit 4", 4],
  ["functions in place of builtins", "pwd() { echo /x; }; export() { :; }; cd sub; declare -x A=1; true", 0],
  ["an aliased, sourced and subshelled line", "(cd /; A=3); cd sub; eval 'export A=1'; false", 1],
])("%s keeps the shell and its exit code", async (_, command, code) => {
  const bench = toolBench();
  mkdirSync(join(bench.folder, "sub"));
  const text = await run(bench, command);
  expect(text).toContain(`[exit code ${code}`);
  expect(text).not.toContain("__hermes");
  expect(await state(bench)).toBe("~/sub|1|unset");
});

test("an EXIT trap runs, and sees the exit code", async () => {
  expect(await run(toolBench(), "trap 'echo code $?' EXIT; exit 6")).toMatch(/^code 6\n\[exit code 6/);
});

test("a command that does not come to its end changes nothing: exec, a signal, a stop", async () => {
  const bench = toolBench();
  await run(bench, "cd /; export A=1; exec true");
  await run(bench, "cd /; export A=1; kill -9 $$");
  await run(bench, "cd /; export A=1; sleep 100", { timeout: 0.3 });
  expect(await state(bench)).toBe("~|unset|unset");
});

test("workdir holds for one call; a cd in it stays", async () => {
  const bench = toolBench();
  mkdirSync(join(bench.folder, "sub", "deep"), { recursive: true });
  expect(await run(bench, "pwd", { workdir: "sub" })).toContain(`${bench.folder}/sub\n`);
  expect(await state(bench)).toBe("~|unset|unset");
  await run(bench, "cd deep", { workdir: "sub" });
  expect(await state(bench)).toBe("~/sub/deep|unset|unset");
});

test("values of every kind come back as they were", async () => {
  const bench = toolBench();
  const values = ["", " ", "a'b\"c`d\\e$(f)", "two\nlines", "tab\tü \u{1f600}", "declare -x PWD=/x\n", "-n"];
  for (const [index, value] of values.entries()) {
    await run(bench, `export V${index}=$(printf '%s.' '${value.replaceAll("'", "'\\''")}'); V${index}=\${V${index}%.}`);
  }
  const script =
    "process.stdout.write(JSON.stringify(Object.keys(process.env).filter((n) => /^V\\d$/.test(n)).sort().map((n) => process.env[n])))";
  expect(JSON.parse((await run(bench, `node -e '${script}'`)).split("\n")[0]!)).toEqual(values);
});

test("a bash that nothing tells of its level keeps its shell too, and reads no .bashrc", async () => {
  const bench = toolBench();
  writeFileSync(join(bench.folder, ".bashrc"), "echo from bashrc\n");
  const { SHLVL, HOME } = process.env;
  delete process.env["SHLVL"];
  process.env["HOME"] = bench.folder;
  try {
    expect(await run(bench, "export A=1")).toMatch(/^\[exit code 0/);
    expect(await state(bench)).toBe("~|1|unset");
  } finally {
    Object.assign(process.env, { SHLVL, HOME });
  }
});

test("symbolic links in the folder stay as they were walked", async () => {
  const bench = toolBench();
  mkdirSync(join(bench.folder, "real"));
  symlinkSync("real", join(bench.folder, "link"));
  await run(bench, "cd link");
  expect(await state(bench)).toBe("~/link|unset|unset");
});

test("commands that run together start from the same shell, and each one's change stays", async () => {
  const bench = toolBench();
  mkdirSync(join(bench.folder, "sub"));
  await Promise.all([
    bench.run(terminal, { command: "cd sub" }),
    toolCall(bench, "two", "export A=1"),
    toolCall(bench, "three", "pwd"),
  ]);
  expect(await state(bench)).toBe("~/sub|1|unset");
});

test("approval judges with the folder that the command runs in", async () => {
  const bench = toolBench();
  mkdirSync(join(bench.folder, "sub"));
  await run(bench, "cd sub");
  const view = { folder: bench.context.shell.folder, process: () => undefined };
  const prepared = terminal.prepare({ command: "rm -rf x" }, bench.folder, view);
  expect(prepared).toMatchObject({ ok: true, call: { effect: { kind: "command", cwd: join(bench.folder, "sub") } } });
  // The shell moves on before the call runs: it runs where it was judged all the same.
  await run(bench, "cd /");
  if (!prepared.ok) throw new Error(prepared.text);
  const staged = await prepared.call.stage(bench.context);
  if (!staged.ok) throw new Error(staged.text);
  await staged.run();
  const again = terminal.prepare({ command: "pwd" }, bench.folder, { ...view, folder: join(bench.folder, "sub") });
  const ready = again.ok ? await again.call.stage(bench.context) : again;
  expect(ready.ok && (await ready.run()).text).toContain(`${bench.folder}/sub\n`);
});

test("a folder that is gone is said, and the shell goes back", async () => {
  const bench = toolBench();
  mkdirSync(join(bench.folder, "sub"));
  await run(bench, "cd sub");
  rmSync(join(bench.folder, "sub"), { recursive: true });
  expect(await run(bench, "pwd")).toContain(`no longer exists. The shell is in ${bench.folder} now`);
  expect(await state(bench)).toBe("~|unset|unset");
});

test("the machinery does not show in what a command's own programs see", async () => {
  const bench = toolBench();
  await run(bench, "export A=1");
  const seen = await run(
    bench,
    "env | grep -E '^(BASH_ENV|HERMES_SHELL)' ; bash -c 'env | grep -c HERMES_SHELL'; echo $SHLVL",
  );
  expect(seen).toMatch(/^0\n\d+\n/);
});

test("the user's own BASH_ENV is read by the command and by its shells", async () => {
  const bench = toolBench();
  const file = join(bench.folder, "user-env");
  writeFileSync(file, "echo read\n");
  process.env["BASH_ENV"] = file;
  try {
    expect(await run(bench, "bash -c 'echo inner'")).toMatch(/^read\nread\ninner\n/);
  } finally {
    delete process.env["BASH_ENV"];
  }
});

test("values are kept in a private folder, which goes with the session", async () => {
  const bench = toolBench();
  await run(bench, "export A=secret-value");
  const folder = (await run(bench, "export B=1; dirname $__hermes_to")).split("\n")[0]!;
  expect((await run(bench, `stat -c %a ${folder}`)).split("\n")[0]).toBe("700");
  expect(existsSync(folder)).toBe(true);
  await bench.context.host.terminals.dispose();
  expect(existsSync(folder)).toBe(false);
});

async function toolCall(bench: Bench, callId: string, command: string): Promise<void> {
  const prepared = terminal.prepare({ command }, bench.folder);
  const staged = prepared.ok ? await prepared.call.stage({ ...bench.context, callId }) : prepared;
  if (!staged.ok) throw new Error(staged.text);
  await staged.run();
}
