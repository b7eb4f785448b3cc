/** Languages that tree-sitter has a grammar for. It only says that a text is no sentence of the language, and where. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Node, Parser, Tree } from "@vscode/tree-sitter-wasm";
import { Deadline } from "../../platform/deadline.ts";
import type { Problem } from "../problems.ts";
import type { SyntaxChecker } from "./syntax-checker.ts";

declare const __GRAMMARS__: unknown;

/** Named at most, of one text: what follows the first is often its consequence. */
const NAMED = 5;
/** A parser that needs longer is stopped: it may be fighting with a text that it is not made for. Milliseconds. */
const PARSE_LIMIT_MS = 100;
/** Of the text that an error stands at. Characters. */
const QUOTED_CHARS = 40;

const checkers = new Map<string, Promise<SyntaxChecker>>();

/** Loads `grammar` with its first use. */
export function grammarChecker(grammar: string): Promise<SyntaxChecker> {
  const known = checkers.get(grammar);
  if (known !== undefined) return known;
  const loading = load(grammar);
  checkers.set(grammar, loading);
  return loading;
}

async function load(grammar: string): Promise<SyntaxChecker> {
  const { default: treeSitter } = await import("@vscode/tree-sitter-wasm");
  const folder = grammarFolder();
  await treeSitter.Parser.init({ locateFile: (file: string) => join(folder, file) });
  const language = await treeSitter.Language.load(join(folder, `tree-sitter-${grammar}.wasm`));
  const parser = new treeSitter.Parser();
  parser.setLanguage(language);
  return (text) => check(parser, text);
}

function check(parser: Parser, text: string): readonly Problem[] {
  const tree = parseInTime(parser, text);
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
  // The type says that nothing is returned; the library stops at true.
  const progressCallback = (): boolean => deadline.hasPassed();
  const tree = parser.parse(text, null, { progressCallback });
  if (tree === null) parser.reset();
  return tree;
}

/** Errors from the outside in, in the text's order; within an error only what is not said by it already. */
function collect(node: Node, problems: Problem[]): void {
  if (problems.length >= NAMED) return;
  if (node.isMissing) problems.push(problemOf(node, `${JSON.stringify(node.type)} is missing`));
  else if (node.isError) problems.push(problemOf(node, `syntax error at ${quoted(node.text)}`));
  else for (const child of node.children) if (child?.hasError || child?.isMissing) collect(child, problems);
}

function problemOf({ startPosition: { row, column } }: Node, message: string): Problem {
  return { line: row + 1, column: column + 1, severity: "error", source: "syntax", message };
}

function quoted(text: string): string {
  const [line = ""] = text.trim().split("\n");
  return JSON.stringify(line.length > QUOTED_CHARS ? `${line.slice(0, QUOTED_CHARS)}…` : line);
}

/** Beside the bundles, or in the package itself where nothing is bundled. */
function grammarFolder(): string {
  if (typeof __GRAMMARS__ === "string") return fileURLToPath(new URL(__GRAMMARS__, import.meta.url));
  return join(createRequire(import.meta.url).resolve("@vscode/tree-sitter-wasm"), "..");
}
