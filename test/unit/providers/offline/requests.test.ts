import { describe, expect, test } from "vitest";
import { parseRequest } from "../../../../agent-core/providers/offline/answer.ts";

function steps(text: string): readonly (readonly [string, unknown])[] {
  const parsed = parseRequest(text);
  if (parsed.kind !== "steps") throw new Error(`${text}: ${JSON.stringify(parsed)}`);
  return parsed.steps.map(({ tool, input }) => [tool, input] as const);
}

const patch = (path: string, old_string: string, new_string: string, more = {}) =>
  ["patch", { mode: "replace", path, old_string, new_string, ...more }] as const;

describe("one request", () => {
  const cases: readonly (readonly [string, readonly [string, unknown]])[] = [
    ["read a.txt", ["read_file", { path: "a.txt" }]],
    ["Please show me the file src/main.ts.", ["read_file", { path: "src/main.ts" }]],
    ["can you open 'my notes.txt'?", ["read_file", { path: "my notes.txt" }]],
    ["cat a.txt from line 20", ["read_file", { path: "a.txt", offset: 20 }]],
    ["list", ["search_files", { target: "files", pattern: "*", path: "." }]],
    ["list the files in the folder src", ["search_files", { target: "files", pattern: "*", path: "src" }]],
    ["ls ..", ["search_files", { target: "files", pattern: "*", path: ".." }]],
    ["show me the files", ["search_files", { target: "files", pattern: "*", path: "." }]],
    ["search total(x) in src", ["search_files", { target: "content", pattern: "total\\(x\\)", path: "src" }]],
    ['search for "a in b"', ["search_files", { target: "content", pattern: "a in b" }]],
    ["find files named *.md in docs", ["search_files", { target: "files", pattern: "*.md", path: "docs" }]],
    ["replace two with TWO in a.txt", patch("a.txt", "two", "TWO")],
    ["replace every 'x y' with `z` in the file a.txt", patch("a.txt", "x y", "z", { replace_all: true })],
    ["replace all foo with bar in src/a.ts", patch("src/a.ts", "foo", "bar", { replace_all: true })],
    ['change "a\\nb" to "a\\tb" in a.txt', patch("a.txt", "a\nb", "a\tb")],
    ["replace don't with do not in a.txt", patch("a.txt", "don't", "do not")],
    ["replace now and then with never in a.txt", patch("a.txt", "now and then", "never")],
    ['replace "x" with "" in a.txt', patch("a.txt", "x", "")],
    ["create notes.txt with Hello", ["write_file", { path: "notes.txt", content: "Hello\n" }]],
    ["create Makefile with all:", ["write_file", { path: "Makefile", content: "all:\n" }]],
    ["write a new file a.md containing # Title", ["write_file", { path: "a.md", content: "# Title\n" }]],
    ['create a.txt with "one\\ntwo\\n"', ["write_file", { path: "a.txt", content: "one\ntwo\n" }]],
    [
      "create a.ts with ```ts\nconst a = 1;\n\nread(a);\n```",
      ["write_file", { path: "a.ts", content: "const a = 1;\n\nread(a);\n" }],
    ],
    ["run npm test", ["terminal", { command: "npm test" }]],
    ['run echo "a" && echo "b"', ["terminal", { command: 'echo "a" && echo "b"' }]],
    ['run "printf \\"a\\nb\\""', ["terminal", { command: 'printf "a\\nb"' }]],
    ['run "if true; then cat a.txt; fi"', ["terminal", { command: "if true; then cat a.txt; fi" }]],
    ["run if true; then echo yes; fi", ["terminal", { command: "if true; then echo yes; fi" }]],
    [
      "ask me which colour? choices red, green or blue",
      ["clarify", { question: "which colour?", choices: ["red", "green", "blue"] }],
    ],
    ["ask me: what is your name?", ["clarify", { question: "what is your name?", choices: [] }]],
    ["remember that I like tabs", ["memory", { action: "add", target: "user", content: "I like tabs" }]],
    [
      "plan look around; change the code; run the tests",
      [
        "todo",
        {
          todos: [
            { id: "1", content: "look around", status: "pending" },
            { id: "2", content: "change the code", status: "pending" },
            { id: "3", content: "run the tests", status: "pending" },
          ],
        },
      ],
    ],
  ];
  test.each(cases)("understands: %s", (text, step) => {
    expect(steps(text)).toEqual([step]);
  });
});

describe("several requests", () => {
  test("then joins them", () => {
    expect(steps("replace two with TWO in a.txt then run cat a.txt")).toEqual([
      patch("a.txt", "two", "TWO"),
      ["terminal", { command: "cat a.txt" }],
    ]);
  });

  test("and then, commas and politeness join them too", () => {
    expect(steps("First read a.txt, and then please list src; then run ls").map(([tool]) => tool)).toEqual([
      "read_file",
      "search_files",
      "terminal",
    ]);
  });

  test("each may have a line of its own", () => {
    expect(steps("read a.txt\nrun ls").map(([tool]) => tool)).toEqual(["read_file", "terminal"]);
  });

  test("then inside quotes joins nothing", () => {
    expect(steps('create a.txt with "read it then run it" then read a.txt')).toEqual([
      ["write_file", { path: "a.txt", content: "read it then run it\n" }],
      ["read_file", { path: "a.txt" }],
    ]);
  });

  test("an apostrophe is no quote", () => {
    expect(steps("create a.txt with don't then run echo 'x'").map(([tool]) => tool)).toEqual([
      "write_file",
      "terminal",
    ]);
  });
});

test("only the last of messages that were never answered is meant", () => {
  expect(steps("run rm -r build\n\nread a.txt")).toEqual([["read_file", { path: "a.txt" }]]);
});

test.each(["help", "What can you do?", "?", "hello"])("help is asked for by: %s", (text) => {
  expect(parseRequest(text).kind).toBe("help");
});

test.each([
  ["make me a sandwich", "make me a sandwich"],
  ["write tests with vitest", "write tests with vitest"],
  ["read a.txt then list the reasons why not", "list the reasons why not"],
  ["", ""],
])("the interpreter says which words it does not understand: %s", (text, words) => {
  expect(parseRequest(text)).toEqual({ kind: "unknown", words });
});
