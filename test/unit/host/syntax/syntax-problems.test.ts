import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it, vi } from "vitest";
import { grammars, syntaxProblems } from "../../../../agent-core/host/syntax/syntax-problems.ts";

async function check(path: string, newText: string | null, oldText: string | null = null): Promise<readonly string[]> {
  const watch = await syntaxProblems().watch("call");
  const files = await watch.settled([{ path, oldText, newText }], new AbortController().signal);
  return files.flatMap(({ after }) => after.map(({ line, column, message }) => `${line}:${column} ${message}`));
}

// A valid text, an invalid one, and the line of the error.
const languages: readonly (readonly [file: string, right: string, wrong: string, line: number])[] = [
  ["a.ts", "const a: Map<string, number> = new Map();\n", "const a = (1;\n", 1],
  ["a.mts", "export type A = { readonly [K in B]?: C<K> };\n", "export type A = {\n", 1],
  ["a.tsx", "const a = <div class={b}>{...c}</div>;\n", "const a = <div><span></div>;\n", 1],
  ["a.js", "const { a = 1, ...b } = c ?? d?.e;\n", "function f( {\n", 1],
  ["a.jsx", "const a = <A {...b} />;\n", "const a = <A>;\n", 1],
  [
    "a.py",
    "async def f(*a, b: int = 1) -> None:\n    match a:\n        case [x]: pass\n",
    "x = 1\ndef f(:\n    pass\n",
    2,
  ],
  ["a.go", "package a\n\nfunc F[T any](x ...T) {}\n", 'package a\n\nfunc F() {\n\tg("x"\n}\n', 4],
  ["a.rs", "fn f<'a>(x: &'a str) -> impl Iterator + 'a { x.chars() }\n", "fn f() {\n    let x = ;\n}\n", 2],
  ["a.java", "class A { record B(int c) {} }\n", "class A {\n  int f( { }\n}\n", 1],
  ["a.rb", "def f(a:, **b) = a\n", "def f\n  [1, 2\nend\n", 1],
  ["a.php", "<?php\n$a = fn(?int $x) => $x?->y;\n", "<?php\n$a = [1, 2;\n", 2],
  ["a.css", ".a:is(.b) { color: var(--c); }\n", ".a { color: red;\n", 1],
  ["a.sh", 'if [[ -n "$a" ]]; then echo "$(b)"; fi\n', "if true; then\n  echo\n", 1],
  ["a.json", '{ "a": [1, 2], "b": null }\n', '{ "a": 1,\n  "b" 2 }\n', 2],
  ["a.yaml", "a:\n  - b: 1\n    c: |\n      text\n---\nsecond: true\n", "a: b: c\n", 1],
];

afterEach(() => {
  vi.restoreAllMocks();
});

describe("syntax check", () => {
  it.each(languages)("%s: a valid text has no problems", async (file, right) => {
    expect(await check(`/w/${file}`, right)).toEqual([]);
  });

  it.each(languages)("%s: an error is found, not before its line", async (file, _right, wrong, line) => {
    const found = await check(`/w/${file}`, wrong);
    expect(found.length).toBeGreaterThan(0);
    expect(found.length).toBeLessThanOrEqual(5);
    expect(Number.parseInt(found[0] ?? "", 10)).toBeGreaterThanOrEqual(line);
  });

  it("every listed grammar exists", async () => {
    for (const extension of Object.keys(grammars)) expect(await check(`/w/a${extension}`, "")).toEqual([]);
  });

  it("names a missing token and its place", async () => {
    expect(await check("/w/a.ts", "f(1;\n")).toEqual(['1:4 ")" is missing']);
    expect(await check("/w/a.json", '{"a": 1,}')).toEqual(["1:9 property name expected", "1:9 value expected"]);
  });

  it("takes a shell script as bash does", async () => {
    const right =
      'a=(1 2)\ncase "$1" in -h|--help) cat <<-E ;; *) ((i++)); [[ $a =~ ^(x|y)$ ]] && echo ${a[@]/%.c/.o};; esac\n\tE\n';
    expect(await check("/w/a.bash", right)).toEqual([]);
    expect(await check("/w/a.sh", "echo one\necho 'two\n")).toEqual([expect.stringContaining("2:")]);
  });

  it("allows comments and trailing commas where the file's readers do", async () => {
    const text = '{\n  // why\n  "a": 1,\n}\n';
    expect(await check("/w/tsconfig.build.json", text)).toEqual([]);
    expect(await check("/w/.vscode/settings.json", text)).toEqual([]);
    expect(await check("/w/package.json", text)).not.toEqual([]);
  });

  it("ignores files without a grammar, deleted and huge files", async () => {
    expect(await check("/w/a.txt", "((((")).toEqual([]);
    expect(await check("/w/a.ts", null, "(((")).toEqual([]);
    expect(await check("/w/a.ts", "(".repeat(300_000))).toEqual([]);
  });

  it("survives random text", async () => {
    const noise = String.fromCharCode(...Array.from({ length: 4_000 }, (_, index) => (index * 7_919) % 0xd7ff));
    for (const extension of [".ts", ".py", ".json", ".yaml", ".sh"]) {
      expect((await check(`/w/a${extension}`, noise)).length).toBeLessThanOrEqual(5);
    }
  });

  it("finds an error after a stall in the middle of parsing", async () => {
    let looks = 0;
    // Only the stall takes time: on a busy machine the parser itself could pass the limit.
    vi.spyOn(performance, "now").mockImplementation(() => {
      looks += 1;
      return looks > 2 ? 10_000 : 0;
    });
    expect(await check("/w/a.ts", `${"f(1);\n".repeat(1_000)}f(1;\n`)).toEqual(['1001:4 ")" is missing']);
    expect(looks).toBeGreaterThan(2);
  });

  it("finds nothing wrong in this project's own files", async () => {
    for (const file of ["agent-core/agent/run-call.ts", "webview/views/app.tsx", "esbuild.mjs", "package.json"]) {
      expect(await check(`/w/${file}`, readFileSync(file, "utf8")), file).toEqual([]);
    }
  });

  it("ends with the turn", async () => {
    const watch = await syntaxProblems().watch("call");
    const stopped = AbortSignal.abort(new Error("stopped"));
    await expect(watch.settled([{ path: "/a.ts", oldText: null, newText: "(" }], stopped)).rejects.toThrow("stopped");
  });
});
