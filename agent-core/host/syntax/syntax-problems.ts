/** Problems without an editor: tree-sitter or another parser checks that an edited text is still valid in its language. */
import { createRequire } from "node:module";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Node, Parser, Tree } from "@vscode/tree-sitter-wasm";
import { Deadline } from "../../platform/deadline.ts";
import { truncate } from "../../platform/one-line.ts";
import type { EditedFile, FileProblems, HostProblems, Problem } from "../host.ts";

/** Longer texts are not checked, because the edit waits for the check. Characters. */
const MAX_CHECKED_CHARS = 200_000;

/**
 * Grammars of `@vscode/tree-sitter-wasm` by file extension; the build copies these into the package. Left out: PowerShell,
 * whose grammar rejects common forms, and which only approvals read; C, where names are words of C++; C# and C++, whose grammars are 10 MB.
 */
export const grammars: Readonly<Record<string, string>> = {
  ".js": "javascript",
  ".cjs": "javascript",
  ".mjs": "javascript",
  ".jsx": "javascript",
  ".ts": "typescript",
  ".cts": "typescript",
  ".mts": "typescript",
  ".tsx": "tsx",
  ".py": "python",
  ".pyi": "python",
  ".go": "go",
  ".rs": "rust",
  ".java": "java",
  ".rb": "ruby",
  ".php": "php",
  ".css": "css",
};

/** By file extension; each loads its parser with the first file of its kind. */
const loaders: Readonly<Record<string, () => Promise<SyntaxChecker>>> = {
  ...Object.fromEntries(
    Object.entries(grammars).map(([extension, grammar]) => [extension, () => grammarChecker(grammar)]),
  ),
  ".json": json,
  ".jsonc": json,
  ".yaml": yaml,
  ".yml": yaml,
  ".sh": shell,
  ".bash": shell,
};

export function syntaxProblems(): HostProblems {
  return { watch: () => Promise.resolve({ settled: checkAll }) };
}

async function checkAll(edits: readonly EditedFile[], signal: AbortSignal): Promise<readonly FileProblems[]> {
  const found: FileProblems[] = [];
  for (const edit of edits) {
    const problems = await check(edit);
    signal.throwIfAborted();
    if (problems !== undefined) found.push(problems);
  }
  return found;
}

async function check({ path, oldText, newText }: EditedFile): Promise<FileProblems | undefined> {
  const load = loaders[extname(path).toLowerCase()];
  if (load === undefined || newText === null || newText.length > MAX_CHECKED_CHARS) return undefined;
  const checker = await load();
  const after = checker(newText, path);
  if (after.length === 0) return undefined;
  const isComparable = oldText !== null && oldText.length <= MAX_CHECKED_CHARS;
  return { path, before: isComparable ? checker(oldText, path) : [], after };
}

async function json(): Promise<SyntaxChecker> {
  return (await import("./parsed-syntax.ts")).checkJson;
}

async function yaml(): Promise<SyntaxChecker> {
  return (await import("./parsed-syntax.ts")).checkYaml;
}

async function shell(): Promise<SyntaxChecker> {
  return (await import("./parsed-syntax.ts")).checkShell;
}

declare const __GRAMMARS__: unknown;

/** Problems of one text at most: later ones often follow from the first. */
const MAX_PROBLEMS = 5;
/** Time for one parse; texts that do not suit a grammar can take very long. Milliseconds. */
const PARSE_LIMIT_MS = 100;
/** Characters of the wrong text in a message. */
const QUOTED_CHARS = 40;

/** Finds the problems of a text; none for a text that takes too long to parse. */
export type SyntaxChecker = (text: string, path: string) => readonly Problem[];

const checkers = new Map<string, Promise<SyntaxChecker>>();

/** Loads `grammar` on first use. */
export function grammarChecker(grammar: string): Promise<SyntaxChecker> {
  const known = checkers.get(grammar);
  if (known !== undefined) return known;
  const loading = load(grammar);
  checkers.set(grammar, loading);
  return loading;
}

async function load(grammar: string): Promise<SyntaxChecker> {
  const parse = await grammarParser(grammar);
  return (text) => checkWith(parse, text);
}

/** Loads `grammar` of the package. The parser gives null for a text that takes too long to read. */
export async function grammarParser(grammar: string): Promise<(text: string) => Tree | null> {
  const { default: treeSitter } = await import("@vscode/tree-sitter-wasm");
  const folder = grammarFolder();
  await treeSitter.Parser.init({ locateFile: (file: string) => join(folder, file) });
  const language = await treeSitter.Language.load(join(folder, `tree-sitter-${grammar}.wasm`));
  const parser = new treeSitter.Parser();
  parser.setLanguage(language);
  return (text) => parseInTime(parser, text);
}

function checkWith(parse: (text: string) => Tree | null, text: string): readonly Problem[] {
  const tree = parse(text);
  if (tree === null) return [];
  try {
    const problems: Problem[] = [];
    if (tree.rootNode.hasError) collect(tree.rootNode, problems);
    return problems;
  } finally {
    tree.delete();
  }
}

function parseInTime(parser: Parser, text: string): Tree | null {
  const deadline = new Deadline(PARSE_LIMIT_MS);
  // The library stops at true, though its type has no result.
  const progressCallback = (): boolean => deadline.hasPassed();
  const tree = parser.parse(text, null, { progressCallback });
  if (tree === null) parser.reset();
  return tree;
}

/** Adds errors in the order of the text; an error hides the errors inside it. */
function collect(node: Node, problems: Problem[]): void {
  if (problems.length >= MAX_PROBLEMS) return;
  if (node.isMissing) problems.push(problemOf(node, `${JSON.stringify(node.type)} is missing`));
  else if (node.isError) problems.push(problemOf(node, `syntax error at ${quoted(node.text)}`));
  else for (const child of node.children) if (child?.hasError || child?.isMissing) collect(child, problems);
}

function problemOf({ startPosition: { row, column } }: Node, message: string): Problem {
  return { line: row + 1, column: column + 1, severity: "error", source: "syntax", message };
}

function quoted(text: string): string {
  const [line = ""] = text.trim().split("\n");
  return JSON.stringify(truncate(line, QUOTED_CHARS));
}

/** The build sets `__GRAMMARS__` to a folder next to the bundle; sources use the package itself. */
function grammarFolder(): string {
  if (typeof __GRAMMARS__ === "string") return fileURLToPath(new URL(__GRAMMARS__, import.meta.url));
  return join(createRequire(import.meta.url).resolve("@vscode/tree-sitter-wasm"), "..");
}
