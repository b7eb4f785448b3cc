/**
 * Learnt lines as checks of tool calls. The model writes the check of a rule once, and the value of a fact is one; the host
 * applies it to each call. Pure.
 */
import { dirname, extname, relative } from "node:path";
import * as z from "zod";
import { commandsIn } from "../approval/parse-command.ts";
import { attempt } from "../platform/errors.ts";
import { escapePattern } from "../platform/escape-pattern.ts";
import { absolutePath } from "../tools/shown-path.ts";

/** Longest pattern, and longest text that one reads. Characters. */
const MAX_PATTERN = 200;
const MAX_READ = 20_000;
/** A repeated group that holds a repetition may take for ever. */
const NESTED = /\([^)]*[*+}][^)]*\)[*+{]/;

const pattern = z
  .string()
  .min(1)
  .max(MAX_PATTERN)
  .refine((source) => !NESTED.test(source) && compiled(source) !== undefined);

const reads = {
  /** `run`: each simple command of a command line. */
  on: z.enum(["commit", "path", "new_file", "text", "command", "run"]),
  /** Found, in capitals or not, in the path or the text of what the rule is about. Default: it is about all. */
  when: pattern.exactOptional(),
  /** Places (`placeOf`) of files that the rule is not about: the user kept an edit there that breaks it. */
  except: z.array(z.string()).readonly().exactOptional(),
};
export const checkSchema = z.union([z.object({ ...reads, require: pattern }), z.object({ ...reads, forbid: pattern })]);
/** `require` must be found in the part of a call, and `forbid` must not. */
export type RuleCheck = z.infer<typeof checkSchema>;

/** Part of a call that a check can read. `path`: of its file, from the project's folder. */
export type CheckedPart = { readonly on: RuleCheck["on"]; readonly text: string; readonly path?: string };

const patterns = new Map<string, RegExp | undefined>();

function compiled(source: string, flags = "u"): RegExp | undefined {
  const key = `${flags} ${source}`;
  const make = () => new RegExp(source, flags);
  if (!patterns.has(key)) patterns.set(key, attempt(make));
  return patterns.get(key);
}

type Stated = {
  readonly subject: string;
  readonly attribute?: string | undefined;
  readonly value?: string | undefined;
};

/**
 * The value of a fact as a check. A command needs the same words as its program's others. A text that names the thing and its
 * property needs the value. Undefined for a value that no call can contradict.
 */
export function checkOfValue({ subject, attribute = "", value = "" }: Stated): RuleCheck | undefined {
  const words = value.trim().replaceAll(/\s+/g, " ");
  const [program = ""] = PROGRAM.exec(words) ?? [];
  const isCommand = words.includes(" ");
  if (isCommand ? ["", words].includes(program) : [subject, attribute, words].includes("")) return undefined;
  const startsWith = (start: string): string => `^${escapePattern(start)}(?![^ ])`;
  const check = isCommand
    ? { on: "run", when: startsWith(program), require: startsWith(words) }
    : { on: "text", when: `^(?=[^]*${asName(subject)})[^]*${asName(attribute)}`, require: asName(words) };
  return checkSchema.safeParse(check).data;
}

/** Program of a command, with its subcommands or the script that it runs: `bin/check`, `npm run test:unit`. */
export const PROGRAM = /^(?:\S*\/\S+|[a-z][\w:-]*(?: [a-z][\w:-]*)*)(?![^ ])/;

/** The text as a word of its own: `billing` also in `BILLING_PORT`. */
function asName(text: string): string {
  return `(?<![\\p{L}\\p{N}])${escapePattern(text.trim())}(?![\\p{L}\\p{N}])`;
}

/** Program of a command line, with its subcommand: `npm test`, `bin/check`. */
export function programOf(command: string): string {
  const [program = "", next = ""] = command.trim().split(/\s+/);
  return /^[a-z][\w:-]*$/.test(next) && !program.includes("/") ? `${program} ${next}` : program;
}

/** Quoted parts of a statement. */
export function spansIn(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, span = ""]) => span);
}

/** Folder and extension of a path from the project's folder: `src/*.ts`. */
export function placeOf(path: string): string {
  return `${dirname(path)}/*${extname(path)}`;
}

export function readBy({ on, when, except = [] }: RuleCheck, parts: readonly CheckedPart[]): readonly CheckedPart[] {
  const isAbout = ({ path = "", text }: CheckedPart): boolean =>
    when === undefined || compiled(when, "iu")?.test(`${path}\n${text}`.trim().slice(0, MAX_READ)) === true;
  const isExcepted = ({ path }: CheckedPart): boolean => path !== undefined && except.includes(placeOf(path));
  return parts.filter((part) => part.on === on && !isExcepted(part) && isAbout(part));
}

/** True when a part of the call breaks the rule; undefined when the call has no part that it reads. */
export function breaks(check: RuleCheck, parts: readonly CheckedPart[]): boolean | undefined {
  const read = readBy(check, parts);
  if (read.length === 0) return undefined;
  const finds = (source: string, { text }: CheckedPart): boolean =>
    compiled(source)?.test(text.slice(0, MAX_READ)) === true;
  return "require" in check
    ? read.some((part) => !finds(check.require, part))
    : read.some((part) => finds(check.forbid, part));
}

const callSchema = z.object({
  path: z.string().optional(),
  content: z.string().optional(),
  new_string: z.string().optional(),
  patch: z.string().optional(),
  command: z.string().optional(),
});

/** Parts of a call that write or run something. `isNew`: true for the path of a file that does not exist. */
export function partsOf(input: unknown, cwd: string, isNew: (path: string) => boolean): readonly CheckedPart[] {
  const { path, content, new_string: replacement, patch, command } = callSchema.safeParse(input).data ?? {};
  if (command !== undefined) {
    const runs = commandsIn(command) ?? [];
    const commits = runs.flatMap((words) => (words[0] === "git" ? commitMessage(words) : []));
    return [
      { on: "command", text: command },
      ...runs.map((words) => ({ on: "run" as const, text: words.join(" ") })),
      ...commits.map((text) => ({ on: "commit" as const, text })),
    ];
  }
  const written = content ?? replacement ?? patch;
  if (written === undefined) return [];
  const paths = path === undefined ? patchedPaths(patch ?? "") : [path];
  return paths.flatMap((each): readonly CheckedPart[] => {
    const absolute = absolutePath(each, cwd);
    const inner = relative(cwd, absolute).replaceAll("\\", "/");
    const isFirst = content !== undefined && isNew(absolute);
    return [
      { on: "text", text: written, path: inner },
      { on: "path", text: inner, path: inner },
      ...(isFirst ? [{ on: "new_file" as const, text: content, path: inner }] : []),
    ];
  });
}

/** Paths in the heads of a patch: `*** Update File: src/a.ts`. */
function patchedPaths(patch: string): readonly string[] {
  return [...patch.matchAll(/^\*\*\* \w+ File: (.+)$/gm)].map(([, path = ""]) => path.trim());
}

/** Message of a commit: the first `-m`, also as the end of short options in one word. */
function commitMessage(words: readonly string[]): readonly string[] {
  if (!words.includes("commit")) return [];
  const joined = words.find((word) => word.startsWith("--message="));
  const at = words.findIndex((word) => word === "--message" || /^-[a-zA-Z]*m$/.test(word));
  const message = joined?.slice("--message=".length) ?? (at < 0 ? undefined : words[at + 1]);
  if (message === undefined) return [];
  const [, , text] = HERE_DOCUMENT.exec(message) ?? [];
  return text === undefined && message.includes("$") ? [] : [text ?? message];
}

/** Text that a substitution in a message prints. */
const HERE_DOCUMENT = /^\$\(cat\s*<<-?\s*['"]?(\w+)['"]?\n([\s\S]*?)\n\s*\1/;

/**
 * Places of files in which the user kept an edit that breaks the rule: it is about other files. A folder that the user wants
 * left alone is not opened by one edit.
 */
export function placesKept(
  check: RuleCheck,
  calls: readonly unknown[],
  { cwd, kept }: { readonly cwd: string; readonly kept: ReadonlySet<string> },
): readonly string[] {
  if (check.on !== "new_file" && check.on !== "text") return [];
  // The last call that wrote a file made what the user kept.
  const last = new Map(
    calls
      .flatMap((input) => partsOf(input, cwd, () => true))
      .flatMap((part) => (part.path !== undefined && part.on === check.on ? [[part.path, part] as const] : [])),
  );
  const broken = [...last].filter(
    ([path, part]) => kept.has(absolutePath(path, cwd)) && breaks(check, [part]) === true,
  );
  return [...new Set(broken.map(([path]) => placeOf(path)))];
}
