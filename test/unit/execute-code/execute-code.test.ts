import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { SessionScripts } from "../../../agent-core/execute-code/session-scripts.ts";
import { findProgram } from "../../../agent-core/platform/find-program.ts";
import { tool as executeCode } from "../../../agent-core/tools/execute-code.ts";
import { table } from "../../../agent-core/tools/table.gen.ts";
import type { ToolContext, ToolResult } from "../../../agent-core/tools/tool.ts";
import { processesSleeping } from "../../support/processes.ts";
import { toolBench } from "../../support/tool-context.ts";

const sessions: SessionScripts[] = [];

afterEach(async () => {
  for (const scripts of sessions.splice(0)) await scripts.close();
});

type Call = { readonly name: string; readonly input: unknown };

/** A bench whose scripts reach the real tools. */
function scriptBench(limits?: ToolContext["scriptLimits"]) {
  const bench = toolBench();
  sessions.push(bench.context.scripts);
  const calls: Call[] = [];
  const callTool: ToolContext["callTool"] = async (name, input, signal) => {
    calls.push({ name, input });
    const tool = table.find((each) => each.name === name);
    if (tool === undefined) return { ok: false, text: "unknown" };
    const preparation = tool.prepare(input, bench.folder);
    if (!preparation.ok) return { ok: false, text: preparation.text };
    const staged = await preparation.call.stage({ ...bench.context, signal });
    return staged.ok ? staged.run() : { ok: false, text: staged.text };
  };
  const run = (code: string, more: Partial<ToolContext> = {}, reset = false): Promise<ToolResult> => {
    const callableTools = () => table.map(({ schema }) => schema);
    const context = { ...bench.context, callTool, callableTools, ...(limits && { scriptLimits: limits }), ...more };
    const preparation = executeCode.prepare({ code, reset }, bench.folder);
    if (!preparation.ok) throw new Error(preparation.text);
    return preparation.call.stage(context).then((staged) => (staged.ok ? staged.run() : staged));
  };
  return { ...bench, calls, run };
}

/** Leftovers of scripts in the temporary folder. */
function leftovers(): readonly string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith(`hermes-code-${process.pid}-`));
}

const inherited = process.env["PATH"] ?? "";

// A version manager's `python3` takes ten times as long to start.
beforeAll(() => {
  if (existsSync("/usr/bin/python3")) process.env["PATH"] = `/usr/bin${delimiter}${inherited}`;
});

afterAll(() => {
  process.env["PATH"] = inherited;
});

const NAP_SECONDS = Number(`6${process.pid}`);

test("a script's start removes the folders of killed agents", async () => {
  const { pid } = spawnSync("true");
  const folder = join(tmpdir(), `hermes-code-${pid}-abandoned`);
  mkdirSync(folder);
  await scriptBench().run("print(1)");
  expect(existsSync(folder)).toBe(false);
});

describe("a Python script", () => {
  test("calls tools by name and in the order of the schema, and only its output returns", async () => {
    const { run, folder, calls, context } = scriptBench();
    const { ok, text } = await run(
      [
        "from hermes_tools import write_file, read_file, terminal",
        'write_file("a.txt", "one\\ntwo\\n")',
        'print(read_file(path="a.txt", limit=1))',
        'print(terminal("echo from the shell", timeout=20).splitlines()[0])',
      ].join("\n"),
    );
    expect(text).toMatch(/^1\|one\n[\s\S]*from the shell\n\[exit code 0, [\d.]+ s; 3 tool calls\]$/);
    expect(ok).toBe(true);
    expect(calls[0]).toEqual({ name: "write_file", input: { path: "a.txt", content: "one\ntwo\n" } });
    expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe("one\ntwo\n");
    await context.scripts.close();
    expect(leftovers()).toEqual([]);
  });

  test("starts in the working folder and finds its modules; an error shows its traceback and exit code", async () => {
    const { run, folder } = scriptBench();
    writeFileSync(join(folder, "mine.py"), "answer = 42\n");
    const { ok, text } = await run("import mine, os\nprint(mine.answer, os.getcwd())\n1 / 0");
    expect(text).toContain(`42 ${folder}\n`);
    expect(text).toContain("line 3");
    expect(text).toMatch(/ZeroDivisionError[\s\S]*\[exit code 1, /);
    expect(ok).toBe(false);
  });

  test("gets an error for one call too many, for wrong arguments, and for tools that scripts cannot call", async () => {
    const { run, calls } = scriptBench({ timeoutSeconds: 20, maxToolCalls: 2 });
    const { text } = await run(
      [
        "import hermes_tools as t",
        "for attempt in (lambda: t.todo(1, 2, 3, 4, 5, 6), lambda: t.read_file('x', path='y')):",
        "    try: attempt()",
        "    except TypeError as error: print(error)",
        "print(hasattr(t, 'execute_code'), hasattr(t, 'clarify'))",
        "print(t.read_file('missing.txt')[:20])",
        "print(t.read_file(path='missing.txt', wrong=1)[:5])",
        "try: t.read_file('c')",
        "except t.ToolCallError as error: print(error)",
      ].join("\n"),
    );
    expect(text).toContain("got two values for path");
    expect(text).toContain("False False");
    expect(text).toContain("the limit of 2 tool calls in a script is reached");
    expect(calls).toHaveLength(2);
  });

  test("shows the first and last part of a long output, and the file with all of it", async () => {
    const { run } = scriptBench();
    const { text } = await run("for i in range(40000): print('line', i)");
    expect(text.length).toBeLessThan(51_000);
    expect(text).toMatch(
      /^line 0\n[\s\S]*bytes omitted; the whole output is in .*\.log[\s\S]*line 39999\n\[exit code 0/,
    );
  });

  test("prints every character in any locale, and its other processes get no tools", async () => {
    const before = process.env["LC_ALL"];
    process.env["LC_ALL"] = "en_US.ISO-8859-1";
    const { text } = await scriptBench().run(
      [
        "import hermes_tools, os",
        "print('→ \\ud800 ä', flush=True)",
        "if os.fork() == 0:",
        "    try: hermes_tools.todo()",
        "    except hermes_tools.ToolCallError as error: print(error, flush=True)",
        "    os._exit(0)",
        "os.wait()",
      ].join("\n"),
    );
    if (before === undefined) delete process.env["LC_ALL"];
    else process.env["LC_ALL"] = before;
    expect(text).toMatch(/→ \\ud800 ä\nhermes_tools works only in the script's own process\n\[exit code 0/);
  });

  test("without output is its exit code alone", async () => {
    expect((await scriptBench().run("import sys; sys.exit(3)")).text).toMatch(/^\[exit code 3, [\d.]+ s\]$/);
  });
});

describe("the next Python script", () => {
  test("has the variables, functions and tools of the last one, and limits and output of its own", async () => {
    const { run, calls } = scriptBench({ timeoutSeconds: 20, maxToolCalls: 1 });
    await run(
      "import json\nfrom hermes_tools import todo\nnumbers = [1, 2]\ndef twice(n): return 1 / n\ntodo()\nprint('one')",
    );
    const { text } = await run("todo()\nprint(json.dumps(numbers))\ntwice(0)");
    expect(text).toMatch(/^\[1, 2\]\nTraceback[\s\S]*line 4, in twice[\s\S]*return 1 \/ n[\s\S]*; 1 tool call\]$/);
    expect(calls).toHaveLength(2);
    const atOnce = await Promise.all(["numbers.append(3); print(1)", "print(numbers)"].map((code) => run(code)));
    expect(atOnce.map((result) => result.text.split("\n")[0])).toEqual(["1", "[1, 2, 3]"]);
    expect((await run("numbers", {}, true)).text).toContain("NameError: name 'numbers' is not defined");
  });

  test("reads a changed module of the workspace again", async () => {
    const { run, folder } = scriptBench();
    for (const answer of [1, 22]) {
      writeFileSync(join(folder, "mine.py"), `answer = ${answer}\n`);
      expect((await run("import mine; print(mine.answer)")).text).toMatch(new RegExp(`^${answer}\\n`));
    }
  });

  test("says why it has no variables of earlier ones, after a cancel and after a change of the shell", async () => {
    const bench = scriptBench();
    const cancel = new AbortController();
    const stopped = bench.run("n = 1\nprint('begun', flush=True)\nwhile True: pass", {
      signal: cancel.signal,
      show: () => cancel.abort(new Error("stop")),
    });
    expect((await stopped).text).toMatch(/^begun\n\[stopped by the user/);
    const because = (reason: string) => `it began without the variables of earlier scripts, because ${reason}`;
    const again = await bench.run("n = 2\nprint('n' in globals())");
    expect(again.text).toContain(because("the user stopped the last script"));
    expect((await bench.run("print(n)")).text).toMatch(/^2\n\[exit code 0, [\d.]+ s\]$/);

    const state = bench.context.shell.stateIn(bench.folder);
    bench.context.shell.adopt(state, { ...state, variables: join(bench.folder, "none") });
    expect((await bench.run("n = 3")).text).toContain(because("the shell's variables have changed"));
  });

  test("finds none after idle time, and no process is left", async () => {
    const scripts = new SessionScripts(1);
    sessions.push(scripts);
    const { run } = scriptBench();
    await run("n = 1", { scripts });
    await expect.poll(() => leftovers()).toEqual([]);
    expect((await run("print(n)", { scripts })).text).toMatch(/NameError[\s\S]*because the interpreter was idle/);
  });

  test("begins fresh when the last one ended the interpreter", async () => {
    const { run } = scriptBench();
    expect((await run("n = 1\nimport os; os._exit(4)")).text).toMatch(/^\[exit code 4, .*; its variables are gone\]$/);
    const thread = "import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.1), print('end'))).start()";
    expect((await run(thread)).text).toMatch(/^end\n\[exit code 0, .*; its variables are gone\]$/);
    const fork = "import os\npid = os.fork()\nif pid: os.waitpid(pid, 0)\nprint(pid > 0)";
    expect((await run(fork)).text).toMatch(/^False\nTrue\n\[exit code 0, [\d.]+ s\]$/);
  });
});

describe("a script ends", () => {
  test("at its timeout in an endless loop, with what it printed; tool calls do not count", async () => {
    const { run } = scriptBench({ timeoutSeconds: 3, maxToolCalls: 5 });
    const { ok, text } = await run(
      'from hermes_tools import terminal\nterminal("sleep 3.2")\nprint("called", flush=True)\nwhile True: pass',
    );
    expect(text).toMatch(/^called\n\[stopped: timeout after 3 s/);
    expect(ok).toBe(false);
  });

  test("with all processes that it started, also those of another session", async () => {
    const { run } = scriptBench();
    const nap = `sleep ${NAP_SECONDS}`;
    const { text } = await run(
      `import subprocess\nfor i in range(20): subprocess.Popen("${nap}".split(), start_new_session=i % 2 == 0)\nprint("left")`,
    );
    expect(text).toMatch(/^left\n\[exit code 0.*; programs that it left running were ended; its variables are gone\]$/);
    expect(processesSleeping(NAP_SECONDS)).toEqual([]);
  });

  test("when it forks too often", async () => {
    const { run } = scriptBench({ timeoutSeconds: 20, maxToolCalls: 1 });
    const { text } = await run(
      `import os\nfor i in range(8): os.fork()\nos.execvp("sleep", ["sleep", "${NAP_SECONDS}"])`,
    );
    expect(text).toContain("[stopped: it started too many processes");
    expect(processesSleeping(NAP_SECONDS)).toEqual([]);
  });

  test("when it floods its output", async () => {
    const { run } = scriptBench();
    const { text } = await run('line = "x" * 1_000_000\nwhile True: print(line)');
    expect(text).toContain("[stopped: it printed too much");
  });

  test("when the turn is cancelled in the middle of a tool call; the call is aborted", async () => {
    const bench = scriptBench();
    const aborted = Promise.withResolvers<unknown>();
    const { text } = await bench.run("from hermes_tools import terminal\nterminal('x')\nprint('never')", {
      callTool: (_, __, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            aborted.resolve(signal.reason);
            reject(signal.reason);
          });
          bench.cancel.abort(new Error("stop"));
        }),
    });
    expect(text).toMatch(/^\[stopped by the user/);
    expect(await aborted.promise).toEqual(new Error("stop"));
    expect(leftovers()).toEqual([]);
  });

  test("while a thread still waits for a call, which is aborted", async () => {
    const aborted = Promise.withResolvers<void>();
    const { text } = await scriptBench().run(
      [
        "import threading, os, time, hermes_tools",
        "threading.Thread(target=lambda: hermes_tools.terminal('x'), daemon=True).start()",
        "time.sleep(0.3)",
        "print('done', flush=True); os._exit(0)",
      ].join("\n"),
      {
        callTool: (_, __, signal) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener("abort", () => {
              aborted.resolve();
              reject(signal.reason);
            });
          }),
      },
    );
    expect(text).toContain("done");
    await aborted.promise;
  });
});

describe("without python3 a script runs on Node", () => {
  const before = process.env["PATH"];
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "hermes-path-"));
    for (const name of ["bash", "mkfifo", "sleep"]) symlinkSync(findProgram(name) ?? "", join(folder, name));
    process.env["PATH"] = folder;
  });

  afterAll(() => {
    process.env["PATH"] = before;
  });

  test("with an object of parameters or the parameters in order, and what it prints returns", async () => {
    const { run, calls } = scriptBench({ timeoutSeconds: 20, maxToolCalls: 3 });
    const { text } = await run(
      [
        'import { read_file, write_file, todo } from "hermes_tools";',
        'await write_file("a.txt", "one\\n");',
        'const texts = await Promise.all([read_file({ path: "a.txt" }), read_file("a.txt", 1)]);',
        "console.log(texts.every((text) => text.includes('one')));",
        "await read_file('x').catch((error) => console.log(error.name, error.message));",
      ].join("\n"),
    );
    expect(text).toMatch(
      /^true\nError the limit of 3 tool calls in a script is reached\n\[exit code 0, [\d.]+ s; 3 tool calls\]$/,
    );
    expect(calls[0]).toEqual({ name: "write_file", input: { path: "a.txt", content: "one\n" } });
  });
});

test("the approval sees the code as the input of its interpreter, whatever lines it has", () => {
  const view = { folder: "/project", process: () => undefined };
  const effectOf = (code: string) => {
    const preparation = executeCode.prepare({ code }, "/project", view);
    return preparation.ok ? preparation.call.effect : undefined;
  };
  expect(effectOf("print(1)\nSCRIPT\nrm")).toEqual({
    kind: "command",
    command: "python3 - <<'SCRIPT_'\nprint(1)\nSCRIPT\nrm\nSCRIPT_",
    cwd: "/project",
  });
});

test("an empty script is refused", () => {
  expect(executeCode.prepare({ code: " \n" }, "/project")).toMatchObject({ ok: false });
});
