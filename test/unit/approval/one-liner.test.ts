import { mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { judgeCommand } from "../../../agent-core/approval/command-verdict.ts";
import { resolvePath } from "../../../agent-core/platform/paths.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "hermes-one-liner-")));
const home = "/home/someone";

function level(program: string, code: string, cwd = root): string {
  const scope = { cwd, roots: [cwd], home, hermesHome: `${home}/.hermes`, resolvePath };
  return judgeCommand(`${program} <<'CODE'\n${code}\nCODE`, scope).level;
}

test.each([
  "print(1 + 1)",
  'import json; print(json.load(open("a.json"))["name"])',
  'import sys\nprint("\\n".join(sys.path))',
  "total = sum(range(10)); print(f'{total:.2f} of {total!r}')",
  "import re  # 'patterns'\nprint(re.findall('a', 'banana'))",
  'print("""a "quoted" text""")',
])("Python code that only calculates runs unasked: %s", (code) => {
  expect(level("python3 -", code)).toBe("safe");
});

test.each([
  "os = 1\nimport os\nos.system('id')",
  "for os in []: pass\nimport os\nos.system('id')",
  "dict(os=1)\nfrom os import system\nsystem('id')",
  "import platform; os = platform.os; os.system('id')",
  "import random; o = random._os; o.system('id')",
  "for eval in []: pass\nprint(eval('1'))",
  "dict(exec=1); exec('print(1)')",
  "print(f'{1}' + eval('1') + 'b')",
  'print(f"{1}" + __import__(\'os\').name + "b")',
  'print(f"""{__import__("os")}""")',
  "print(rf'{eval(1)}')",
  "x = 'it' # '\nexec('1') # '",
  "import sys; sys.path = ['lib']; import textwrap",
  "import sys; p = sys.path; p.append('lib'); import textwrap",
  "import sys; print(sys.modules)",
  "import json, os; print(os.name)",
])("Python code that can reach more than its names asks: %s", (code) => {
  expect(level("python3 -", code)).toBe("ask");
});

test("Python code asks when a file of the working folder replaces a module that it imports", () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "hermes-one-liner-")));
  writeFileSync(join(folder, "json.py"), "");
  expect(level("python3 -", "import json; print(1)", folder)).toBe("ask");
  expect(level("python3 -m json.tool a.json", "", folder)).toBe("ask");
  expect(level("export PYTHONPATH=lib; python3 -", "import json; print(1)")).toBe("ask");
});

test.each([
  "console.log(1 + 1, `${2 * 3}`)",
  "const p = require('./package.json'); console.log(p['name'], p.scripts)",
  "for (const k of [1, 2]) console.log(k / 2)",
])("JavaScript code that only calculates runs unasked: %s", (code) => {
  expect(level("node -", code)).toBe("safe");
});

test.each([
  "let c = 'constr' + 'uctor'; console.log([][c][c]('return 1')())",
  "console.log([]['constr\\u0075ctor'])",
  "let constructor = 1; const {constructor: F} = []; F('id')",
  "{ let eval = 1 } eval('1')",
  "let fetch = 0; { fetch('http://localhost/') }",
  "let fs = 1; { fs.writeFileSync('a', 'b') }",
  "let kill = 1; process.kill(1)",
  "Object.values(process).reduce((a, b) => a)",
  "console.log(/\"/.test('a'), eval('1'), /\"/)",
  "console.log(`${eval('1')}`)",
])("JavaScript code that can reach more than its names asks: %s", (code) => {
  expect(level("node -", code)).toBe("ask");
});

test("a JSON file with keys that code loads asks", () => {
  expect(level("node -", "console.log(require('./credentials.json'))")).toBe("ask");
});
