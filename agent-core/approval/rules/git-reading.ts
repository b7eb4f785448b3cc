/** Commands of git that read: the files that they open, and the earlier text of tracked files that they print. */
import { type Call, type CommandEffect, opaque, reads } from "../command-effect.ts";
import { type Arg, afterPrefix, knownArg, UNKNOWN } from "../shell/arg.ts";
import { has, type Options, valuesOf } from "./options.ts";
import type { Rule } from "./rule.ts";

/** Options of any command that read or write a file, or run a program. */
export const SPECIAL_OPTIONS: NonNullable<Rule["options"]> = {
  "output=": "write",
  "contents= ignore-revs-file= exclude-from= pathspec-from-file=": "read",
  "ext-diff exec= exec-path=? upload-pack= receive-pack= open-files-in-pager=? filters textconv template= strategy= config=":
    opaque("Runs {name} with {option}, which runs other programs"),
};

/** A command that reads: some options of it write a file or run a helper. Its operands may be files of any folder. */
export const READ: Rule = {
  open: true,
  // Each would otherwise count as an abbreviation of a special one.
  long: "text exclude recursive no-index untracked",
  options: SPECIAL_OPTIONS,
  effects: (call, options) => [
    ...untracked(call, options),
    ...readsOf([...options.operands, ...valuesOf(options, "L").filter(({ text }) => text !== "")]),
    ...historyOf(call, options),
  ],
};

/** Files that git does not track, too. A comparison with a path outside of the repository reads no index. */
function untracked({ name }: Call, options: Options): readonly CommandEffect[] {
  const isOutside = name === "git diff" && options.operands.some(({ text }) => /^(?:\.\.)?\//.test(text));
  if (!isOutside && !has(options, "no-index", "untracked")) return [];
  return reads([...(name === "git diff" ? [] : [knownArg(".")]), ...options.operands], "below");
}

/** Commands that print the text of files by default, and those that do it with an option for patches. */
const PRINTERS = /^git (?:diff|show|grep|cat-file|archive|fast-export|format-patch|range-diff|merge-tree)$/;
const PATCH =
  "p u patch patch-with-raw patch-with-stat U unified c cc W function-context L binary remerge-diff diff-merges dd".split(
    " ",
  );
const SUMMARY = "stat shortstat numstat name-only name-status summary dirstat raw no-patch s quiet check list".split(
  " ",
);
const NAMES_OF_GREP = "l files-with-matches name-only L files-without-match c count q quiet".split(" ");
const FACTS_OF_OBJECT = "t s e batch-check".split(" ");
/** One file of a revision. */
const ONE_FILE = /^[\w./@~^-]*:(?!\/)[^:]+$/;

/** Text of tracked files that no word of the command names. */
export function historyOf({ name, args }: Call, options: Options): readonly CommandEffect[] {
  if (!printsText(name, options)) return [];
  const { operands } = options;
  if (operands.length > 0 && operands.every(({ text }) => ONE_FILE.test(text))) return [];
  const end = args.findIndex(({ text }) => text === "--");
  const own = name === "git grep" && !has(options, "e", "f") ? operands.slice(1) : operands;
  const lines = valuesOf(options, "L").map((arg) => afterPrefix(arg, arg.text.lastIndexOf(":") + 1));
  return [{ kind: "history", paths: end < 0 ? [...own, ...lines] : args.slice(end) }];
}

function printsText(name: string, options: Options): boolean {
  if (name === "git status") return has(options, "v", "verbose");
  // With any option it prints a patch, unless that option asks for a summary.
  if (name === "git stash" && options.operands[0]?.text === "show" && !has(options, ...SUMMARY))
    return options.given.size > 0;
  if (!PRINTERS.test(name) || has(options, ...PATCH)) return has(options, ...PATCH);
  const silent = { "git grep": NAMES_OF_GREP, "git cat-file": FACTS_OF_OBJECT }[name] ?? SUMMARY;
  return !has(options, ...silent);
}

/** `REVISION:PATH` reads the path as it was. */
function readsOf(operands: readonly Arg[]): readonly CommandEffect[] {
  const known = operands.filter(({ text }) => !text.startsWith(UNKNOWN));
  return reads(
    known.flatMap((arg) => (arg.text.includes(":") ? [arg, afterPrefix(arg, arg.text.lastIndexOf(":") + 1)] : [arg])),
  );
}

const withOptions = (options: Rule["options"]): Rule => ({ ...READ, options: { ...SPECIAL_OPTIONS, ...options } });

/** A command that follows commits; its options may hold lines of a file, or a text that changes brought or took. */
const LOG = withOptions({ "L: S: G:": [] });

export const readingCommands: Readonly<Record<string, Rule>> = {
  "status shortlog describe rev-parse ls-files ls-tree name-rev merge-base cat-file for-each-ref show-ref show-branch":
    READ,
  "count-objects fsck check-mailmap var version help range-diff cherry verify-commit verify-tag merge-tree stripspace":
    READ,
  "diff log show rev-list diff-tree diff-index diff-files": LOG,
  "blame annotate": withOptions({ "L:": [], "S:": "read" }),
  "check-ignore check-attr": { ...READ, effects: (_, { operands }) => reads(operands, "facts") },
  grep: withOptions({ O: opaque("Makes git grep open files in another program") }),
};
