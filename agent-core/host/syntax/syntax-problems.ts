/** Problems without an editor: a parser checks that an edited text is still valid in its language. */
import { extname } from "node:path";
import type { EditedFile, FileProblems, HostProblems } from "../host.ts";
import { grammarChecker, type SyntaxChecker } from "./grammar-syntax.ts";
import { grammars } from "./grammars.ts";

/** Longer texts are not checked, because the edit waits for the check. Characters. */
const MAX_CHECKED_CHARS = 200_000;

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
