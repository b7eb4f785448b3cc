/**
 * Checks of a proposed skill against the evidence of its cluster. A bullet is admitted only when every command, tool, path
 * and flag in it is in an episode: a model that invents one cannot write it into a skill.
 */
import { basename, relative } from "node:path";
import { contentWords } from "../../memory/statement.ts";
import { escapePattern } from "../../platform/escape-pattern.ts";
import { findThreat } from "../../prompt/injection-scan.ts";
import { holdsSecret } from "../../providers/redact.ts";
import { isCheckCommand } from "../../sessions/session-outcomes.ts";
import type { Cluster } from "./clusters.ts";

/** A longer bullet is a narrative. Characters. */
const MAX_BULLET = 400;

export type Evidence = {
  /** Simple and whole command lines whose last run passed. */
  readonly passed: ReadonlySet<string>;
  /** Command lines whose last run failed. */
  readonly failed: ReadonlySet<string>;
  /** Tools, paths, and every word of a passed command or of the user. */
  readonly words: ReadonlySet<string>;
  /** Messages and corrections of the user. */
  readonly texts: readonly string[];
};

/** `cluster`: oldest first, so that the last run of a command counts. */
export function evidenceOf(cluster: Cluster): Evidence {
  const runs = new Map<string, boolean>();
  for (const { commands } of cluster) {
    for (const { command, exit } of commands) {
      for (const each of exit === 0 ? provenParts(command) : [normalised(command)]) {
        // A failed test speaks against the code, not against the command.
        if (exit !== 0 && runs.get(each) === true && isCheckCommand(each)) continue;
        runs.delete(each);
        runs.set(each, exit === 0);
      }
    }
  }
  const passed = new Set([...runs].filter(([, ok]) => ok).map(([command]) => command));
  const failed = new Set([...runs].filter(([, ok]) => !ok).map(([command]) => command));
  const texts = cluster.flatMap(({ firstMessage, corrections }) => [firstMessage, ...corrections].map(normalised));
  const paths = cluster.flatMap((episode) => episode.paths.flatMap((path) => formsOf(path, episode.cwd)));
  const spoken = [...passed, ...texts].flatMap((text) => text.split(" ").flatMap((word) => [word, trimmed(word)]));
  const words = new Set([...cluster.flatMap(({ tools }) => tools), ...paths, ...spoken]);
  return { passed, failed, words, texts };
}

/** A path as people write it, with its folders. */
function formsOf(path: string, cwd: string): readonly string[] {
  const inner = relative(cwd, path).replaceAll("\\", "/");
  const folders = inner.split("/").slice(0, -1);
  const prefixes = folders.map((_, at) => folders.slice(0, at + 1).join("/"));
  return [path, inner, `./${inner}`, basename(path), ...prefixes, ...prefixes.map((folder) => `${folder}/`)];
}

/** Parts of a command line that passed. After `;`, `|` and `||` the exit code is only that of the whole line. */
function provenParts(command: string): readonly string[] {
  const whole = normalised(command);
  return /[;|\n]|\|\|/.test(command) ? [whole] : [...new Set([whole, ...whole.split(" && ")])];
}

function normalised(text: string): string {
  return text.trim().replaceAll(/\s+/g, " ");
}

/** Reason why the text is not admitted; undefined for a good one. */
export function textProblem(text: string, evidence: Evidence): string | undefined {
  if (text.trim() === "" || text.includes("\n")) return "it is not one line of text";
  if (text.length > MAX_BULLET) return `it has ${text.length} characters; the limit is ${MAX_BULLET}`;
  const threat = findThreat(text);
  if (threat !== undefined) return `it contains ${threat}`;
  if (holdsSecret(text, [])) return "it contains a secret";
  const form = FORMS.find(({ pattern }) => pattern.test(text));
  if (form !== undefined) return `it contains ${form.name}`;
  return unprovenPart(text, evidence);
}

/** Contents that hold for one session only. */
const FORMS: readonly { readonly name: string; readonly pattern: RegExp }[] = [
  { name: "a date", pattern: /\b\d{4}-\d{2}-\d{2}/ },
  {
    name: "an id",
    pattern: /\b(?:\d{8}_\d{6}\w*|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]+|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{12,})\b/,
  },
];

/** Quoted parts are commands, paths and names. */
const QUOTED = /`([^`]*)`/g;

function unprovenPart(text: string, evidence: Evidence): string | undefined {
  if ((text.match(/`/g)?.length ?? 0) % 2 === 1) return "it has an open quotation";
  for (const [, span = ""] of text.matchAll(QUOTED)) {
    const problem = spanProblem(normalised(span), evidence);
    if (problem !== undefined) return problem;
  }
  const prose = normalised(text.replaceAll(QUOTED, " ` ")).split(" ");
  const unknown = prose.find((word) => isTechnical(trimmed(word), evidence) && !isIn(word, evidence));
  return unknown === undefined ? undefined : `no episode has ${JSON.stringify(trimmed(unknown))}`;
}

function isIn(written: string, { words }: Evidence): boolean {
  return words.has(written) || words.has(trimmed(written));
}

/** Share of a statement's words that the user said, for one that quotes nothing. */
const BACKED = 0.5;

/**
 * Reason why a statement of a skill is not admitted; undefined for a good one. It quotes what a session has, or repeats the
 * user's words. A command outside of backticks may go on in any words, so there is none.
 */
export function statementProblem(text: string, evidence: Evidence): string | undefined {
  const problem = textProblem(text, evidence);
  if (problem !== undefined) return problem;
  const prose = normalised(text.replaceAll(QUOTED, " ` ")).split(" ").map(trimmed);
  const programs = new Set([...evidence.passed].map((command) => command.split(" ")[0] ?? ""));
  const bare = prose.find((word) => programs.has(word));
  if (bare !== undefined) return `the command ${JSON.stringify(bare)} stands outside of backticks`;
  if (text.includes("`")) return undefined;
  const said = new Set(contentWords(evidence.texts.join("\n")));
  const words = contentWords(text);
  return words.filter((word) => said.has(word)).length >= words.length * BACKED ? undefined : "no session shows it";
}

function spanProblem(span: string, evidence: Evidence): string | undefined {
  if (span === "") return "it has an empty quotation";
  const parts = span.split(/ && /);
  const wrong = parts.find((part) => evidence.failed.has(part));
  if (wrong !== undefined) return `the last run of ${JSON.stringify(wrong)} failed`;
  const unknown = parts.find((part) => !isKnown(part, evidence));
  return unknown === undefined ? undefined : `no episode has ${JSON.stringify(unknown)}`;
}

/** A placeholder such as `<number>` stands for any word. */
function isKnown(span: string, { words, passed, texts }: Evidence): boolean {
  if (words.has(span)) return true;
  const parts = span.split(/<[^<>\s]+>/);
  if (parts.every((part) => part === "")) return false;
  const source = parts.map(escapePattern).join("[^\\s/]+");
  const pattern = new RegExp(`(?:^|[\\s"'\`(])${source}(?=$|[\\s"'\`).,;:!?])`);
  const isIn = (text: string): boolean => pattern.test(text);
  return [...passed].some(isIn) || texts.some(isIn) || (parts.length > 1 && [...words].some(isIn));
}

/** True for a word with the form of a path, an option, a name or an assignment. `read/write` is no path without a folder `read`. */
function isTechnical(word: string, { words }: Evidence): boolean {
  const [, folder] = /^(\p{L}+\/)\p{L}+$/u.exec(word) ?? [];
  if (folder !== undefined) return [...words].some((known) => known.startsWith(folder));
  if (/^-{1,2}[A-Za-z]/.test(word) || /[/\\_=$@<>{}[\]|&*~#%^+]/.test(word)) return true;
  if (/\w\.[A-Za-z]\w{0,9}$/.test(word) || /\w:\w/.test(word)) return true;
  return /\p{Ll}\p{Lu}/u.test(word) || (/\p{L}/u.test(word) && /\d/.test(word));
}

/** The word without punctuation around it. */
function trimmed(word: string): string {
  return word.replaceAll(/^["'“”‘’(]+|["'“”‘’),.;:!?…]+$/gu, "");
}
