/** Rules of the user as checks of tool calls. The model writes a check once; the host applies it to each call. Pure. */
import { relative } from "node:path";
import { parse } from "unbash";
import * as z from "zod";
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

export const checkSchema = z.union([
  z.object({ on: z.enum(["commit", "path", "new_file", "text", "command"]), require: pattern }),
  z.object({ on: z.enum(["commit", "path", "new_file", "text", "command"]), forbid: pattern }),
]);
/** `require` must be found in the part of a call, and `forbid` must not. */
export type RuleCheck = z.infer<typeof checkSchema>;

/** Part of a call that a check can read. */
export type CheckedPart = { readonly on: RuleCheck["on"]; readonly text: string };

const patterns = new Map<string, RegExp | undefined>();

function compiled(source: string): RegExp | undefined {
  if (!patterns.has(source)) patterns.set(source, tryCompile(source));
  return patterns.get(source);
}

function tryCompile(source: string): RegExp | undefined {
  try {
    return new RegExp(source, "u");
  } catch {
    return undefined;
  }
}

/** True when a part of the call breaks the rule; undefined when the call has no part that it reads. */
export function breaks(check: RuleCheck, parts: readonly CheckedPart[]): boolean | undefined {
  const read = parts.filter(({ on }) => on === check.on);
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
    return [{ on: "command", text: command }, ...commitsIn(command).map((text) => ({ on: "commit" as const, text }))];
  }
  const written = content ?? replacement ?? patch;
  if (written === undefined) return [];
  const paths = path === undefined ? patchedPaths(patch ?? "") : [path];
  const absolute = paths.map((each) => absolutePath(each, cwd));
  return [
    { on: "text", text: written },
    ...absolute.map((each) => ({ on: "path" as const, text: relative(cwd, each).replaceAll("\\", "/") })),
    ...(content !== undefined && absolute.some(isNew) ? [{ on: "new_file" as const, text: content }] : []),
  ];
}

/** Paths in the heads of a patch: `*** Update File: src/a.ts`. */
function patchedPaths(patch: string): readonly string[] {
  return [...patch.matchAll(/^\*\*\* \w+ File: (.+)$/gm)].map(([, path = ""]) => path.trim());
}

/** Messages of all `git commit` commands in a script. */
function commitsIn(script: string): readonly string[] {
  if (!script.includes("commit")) return [];
  const found: string[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    const command = commandSchema.safeParse(node).data;
    if (command?.name.value === "git") found.push(...messageOf(command.suffix.map(({ value }) => value)));
    for (const child of Object.values(node)) visit(child);
  };
  visit(parse(script).commands);
  return found;
}

const wordSchema = z.object({ value: z.string() });
const commandSchema = z.object({ type: z.literal("Command"), name: wordSchema, suffix: z.array(wordSchema) });

/** Message of a commit: the first `-m`, also as the end of short options in one word. */
function messageOf(words: readonly string[]): readonly string[] {
  if (!words.includes("commit")) return [];
  const joined = words.find((word) => word.startsWith("--message="));
  if (joined !== undefined) return [joined.slice("--message=".length)];
  const at = words.findIndex((word) => word === "--message" || /^-[a-zA-Z]*m$/.test(word));
  const message = at < 0 ? undefined : words[at + 1];
  return message === undefined ? [] : [message];
}
