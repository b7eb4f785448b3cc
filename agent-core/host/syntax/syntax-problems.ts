/** HostProblems without an editor: a parser looks whether the text still is what its language allows. */
import { extname } from "node:path";
import type { EditedFile, FileProblems, HostProblems } from "../problems.ts";
import { grammarChecker } from "./grammar-syntax.ts";
import { grammars } from "./grammars.ts";
import type { SyntaxChecker } from "./syntax-checker.ts";

/** Longer texts are not checked: the edit should not wait for it. Characters. */
const CHECKED_CHARS = 200_000;

/** By file extension; each loads its parser with the first file that it is asked about. */
const loaders: Readonly<Record<string, () => Promise<SyntaxChecker>>> = {
  ...Object.fromEntries(
    Object.entries(grammars).map(([extension, grammar]) => [extension, () => grammarChecker(grammar)]),
  ),
  ".json": json,
  ".jsonc": json,
  ".yaml": yaml,
  ".yml": yaml,
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
  if (load === undefined || newText === null || newText.length > CHECKED_CHARS) return undefined;
  const checker = await load();
  const after = checker(newText, path);
  if (after.length === 0) return undefined;
  const isComparable = oldText !== null && oldText.length <= CHECKED_CHARS;
  return { path, before: isComparable ? checker(oldText, path) : [], after };
}

async function json(): Promise<SyntaxChecker> {
  return (await import("./json-syntax.ts")).checkJson;
}

async function yaml(): Promise<SyntaxChecker> {
  return (await import("./yaml-syntax.ts")).checkYaml;
}
