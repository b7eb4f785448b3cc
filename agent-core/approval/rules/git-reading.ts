/** Commands of git that read: the files that they open, and the earlier text of tracked files that they print. */
import { type Call, type CommandEffect, opaque, reads, readsFacts } from "../command-effect.ts";
import { type Arg, afterPrefix, UNKNOWN } from "../shell/arg.ts";
import { has, type Options, valuesOf } from "./options.ts";
import type { Rule } from "./rule.ts";

/** Options of the commands that only read; those that write a file or run a helper have their own entries. */
const LOOKING = {
  short: "0123456789aAbBcCdDeEfFgGhHiIjkKlLmMnNoOpPqrRsStTuUvwWxXyYz",
  long: [
    // Differences
    "patch no-patch unified= function-context raw patch-with-raw patch-with-stat numstat shortstat dirstat=? cumulative",
    "dirstat-by-file=? check summary name-only name-status stat=? stat-width= stat-name-width= stat-graph-width= stat-count=",
    "compact-summary binary full-index color=? no-color ws-error-highlight= abbrev=? no-abbrev src-prefix= dst-prefix=",
    "line-prefix= inter-hunk-context= no-prefix default-prefix break-rewrites=? find-renames=? no-renames irreversible-delete",
    "find-copies=? find-copies-harder rename-empty no-rename-empty follow minimal ignore-all-space ignore-space-change",
    "ignore-space-at-eol ignore-cr-at-eol ignore-blank-lines ignore-matching-lines= indent-heuristic patience histogram",
    "diff-algorithm= anchored= word-diff=? word-diff-regex= color-words=? color-moved=? color-moved-ws= relative=? text",
    "exit-code quiet no-ext-diff no-textconv ignore-submodules=? submodule=? ita-invisible-in-index pickaxe-all pickaxe-regex",
    "rotate-to= skip-to= find-object= diff-filter= output-indicator-new= output-indicator-old= output-indicator-context=",
    "cached staged merge-base no-index diff-merges= no-diff-merges combined-all-paths cc remerge-diff root recursive",
    // Commits
    "max-count= skip= since= after= until= before= author= committer= grep= grep-reflog= all-match invert-grep",
    "regexp-ignore-case basic-regexp extended-regexp fixed-strings perl-regexp merges no-merges min-parents= max-parents=",
    "first-parent not all branches=? tags=? remotes=? glob= exclude= reflog ignore-missing stdin cherry-mark cherry-pick",
    "left-only right-only cherry walk-reflogs merge merged=? no-merged=? boundary simplify-by-decoration full-history dense sparse",
    "simplify-merges ancestry-path=? date-order author-date-order topo-order reverse no-walk=? pretty=? format= abbrev-commit",
    "no-abbrev-commit oneline encoding= expand-tabs=? no-expand-tabs notes=? no-notes show-signature relative-date date= parents",
    "children left-right graph count timestamp objects log-size decorate=? no-decorate decorate-refs= decorate-refs-exclude=",
    "clear-decorations source use-mailmap mailmap no-mailmap disk-usage=? in-commit-order topics author-date-is-committer-date",
    // Files, names and the state of the repository
    "verbose short branch show-stash ahead-behind no-ahead-behind porcelain=? long null untracked-files=? ignored=? column=?",
    "no-column renames deleted modified others stage killed directory eol empty-directory unmerged resolve-undo exclude-from=",
    "exclude-per-directory= exclude-standard full-name recurse-submodules=? error-unmatch with-tree= deduplicate object-only",
    "full-tree incremental show-stats progress no-progress show-name show-number line-porcelain show-email ignore-rev=",
    "ignore-revs-file= color-lines color-by-age contents= numbered email group= contains=? no-contains=? debug exact-match",
    "candidates= match= always dirty=? broken=? shell count= sort= points-at=? ignore-case show-current list contains",
    "abbrev-ref=? symbolic symbolic-full-name verify show-toplevel git-dir is-inside-work-tree is-inside-git-dir show-prefix",
    "show-cdup git-path= absolute-git-dir is-bare-repository is-shallow-repository show-superproject-working-tree git-common-dir",
    "default= flags no-flags revs-only no-revs sq-quote heads refs head dereference hash=? untracked invert-match word-regexp",
    "max-depth= no-recursive line-number files-with-matches files-without-match only-matching break heading context= show-function",
    "before-context= after-context= threads= and or index no-exclude-standard batch batch-check=? batch-all-objects textconv-none",
    "full strict unreachable dangling no-dangling no-reflogs lost-found-none connectivity-only human-readable non-matching",
    "type path= independent is-ancestor octopus fork-point get-regexp symref upload-none sort get-url parseopt octopus",
  ].join(" "),
} satisfies Rule;

/** Options of any command that read or write a file, or run a program. */
export const SPECIAL_OPTIONS: NonNullable<Rule["options"]> = {
  "output=": "write",
  "contents= ignore-revs-file= exclude-from= pathspec-from-file=": "read",
  "ext-diff exec= exec-path=? upload-pack= receive-pack= open-files-in-pager=? filters textconv template= strategy= config=":
    opaque("Runs {name} with {option}, which runs other programs"),
};

/** A command that reads: some options of it write a file or run a helper. Its operands may be files of any folder. */
export const READ: Rule = {
  ...LOOKING,
  options: SPECIAL_OPTIONS,
  effects: (call, options) => [
    ...readsOf([...options.operands, ...valuesOf(options, "L").filter(({ text }) => text !== "")]),
    ...historyOf(call, options),
  ],
};

/** Commands that print the text of files by default, and those that do it with an option for patches. */
const PRINTERS = /^git (?:diff|show|grep|cat-file|archive|fast-export|format-patch|range-diff|merge-tree)$/;
const PATCH = words(
  "p u patch patch-with-raw patch-with-stat U unified c cc W function-context L binary remerge-diff diff-merges dd",
);
const SUMMARY = words("stat shortstat numstat name-only name-status summary dirstat raw no-patch s quiet check list");
const NAMES_OF_GREP = words("l files-with-matches name-only L files-without-match c count q quiet");
const FACTS_OF_OBJECT = words("t s e batch-check");
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

function withOptions(options: NonNullable<Rule["options"]>): Rule {
  return { ...READ, options: { ...SPECIAL_OPTIONS, ...options } };
}

/** A command that follows commits; its options may hold lines of a file, or a text that changes brought or took. */
const LOG = withOptions({ "L: S: G:": [] });

export const readingCommands: Readonly<Record<string, Rule>> = {
  "status shortlog describe rev-parse ls-files ls-tree name-rev merge-base": READ,
  "diff log show rev-list diff-tree diff-index diff-files": LOG,
  "blame annotate": withOptions({ "L:": [], "S:": "read" }),
  "for-each-ref show-ref show-branch count-objects fsck": READ,
  "check-ignore check-attr": { ...READ, effects: (_, { operands }) => readsFacts(operands) },
  "check-mailmap var version help range-diff cherry verify-commit verify-tag merge-tree stripspace": READ,
  "cat-file": READ,
  grep: withOptions({ O: opaque("Makes git grep open files in another program") }),
};

function words(text: string): readonly string[] {
  return text.split(" ");
}
