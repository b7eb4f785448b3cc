/**
 * Rules for git: its global options, and what each of its commands does. Commands that can be undone do not ask. Those that
 * read say which files they open, and the earlier text of tracked files that they print.
 */
import {
  ask,
  type Call,
  CHANGE,
  type CommandEffect,
  deletes,
  OUTSIDE,
  opaque,
  type Program,
  reads,
  writes,
} from "../command-effect.ts";
import { IS_ON } from "../repository.ts";
import { type Arg, afterPrefix, isKnown, knownArg, shown, UNKNOWN } from "../shell/arg.ts";
import { below } from "./files.ts";
import { has, type Options, valuesOf } from "./options.ts";
import { type Rule, ruleTable } from "./rule.ts";

/** Options of any command that read or write a file, or run a program. */
const SPECIAL_OPTIONS: NonNullable<Rule["options"]> = {
  "output=": "write",
  "contents= ignore-revs-file= exclude-from= pathspec-from-file=": "read",
  "ext-diff exec= exec-path=? upload-pack= receive-pack= open-files-in-pager=? filters textconv template= strategy= config=":
    opaque("Runs {name} with {option}, which runs other programs"),
};

/** A command that reads: some options of it write a file or run a helper. Its operands may be files of any folder. */
const READ: Rule = {
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
function historyOf({ name, args }: Call, options: Options): readonly CommandEffect[] {
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

const readingCommands: Readonly<Record<string, Rule>> = {
  "status shortlog describe rev-parse ls-files ls-tree name-rev merge-base cat-file for-each-ref show-ref show-branch":
    READ,
  "count-objects fsck check-mailmap var version help range-diff cherry verify-commit verify-tag merge-tree stripspace":
    READ,
  "diff log show rev-list diff-tree diff-index diff-files": LOG,
  "blame annotate": withOptions({ "L:": [], "S:": "read" }),
  "check-ignore check-attr": { ...READ, effects: (_, { operands }) => reads(operands, "facts") },
  grep: withOptions({ O: opaque("Makes git grep open files in another program") }),
};

function choosing(options: Options): readonly CommandEffect[] {
  const isChosen = has(options, "p", "patch", "i", "interactive") || has(options, "dry-run");
  return isChosen ? [{ kind: "history", paths: [] }] : [];
}

type Effects = NonNullable<Rule["effects"]>;

/** Signing needs the user's keys. `key`: setting that signs unless an option says otherwise. `names`: options that sign. */
function signs(key: string, options: Options, ...names: readonly string[]): readonly CommandEffect[] {
  if (has(options, "gpg-sign", ...names)) return [OUTSIDE];
  const never = ["no-gpg-sign", "no-sign", "abort", "quit", "ff-only", "no-commit", "dry-run"];
  return has(options, ...never) ? [] : [{ ...OUTSIDE, when: key }];
}

/** The effects where the command line itself has `settings`, as `name=value`. */
function withSettings(effects: readonly CommandEffect[], settings: readonly Arg[]): readonly CommandEffect[] {
  return effects.flatMap((effect): readonly CommandEffect[] => {
    const start = effect.kind === "reach" && effect.when !== undefined ? `${effect.when}=` : undefined;
    const given = settings.findLast(({ text }) => start !== undefined && text.toLowerCase().startsWith(start));
    if (given === undefined) return [effect];
    return IS_ON.test(given.text.slice(start?.length)) ? [OUTSIDE] : [];
  });
}

/** A command that changes the index, branches or commits; the earlier state can be restored. */
function changes(effects: Effects = () => [CHANGE], options: Rule["options"] = {}): Rule {
  return {
    open: true,
    options: { ...SPECIAL_OPTIONS, ...options },
    effects: (call, given) => [...choosing(given), ...effects(call, given)],
  };
}

const loses = (call: Call): CommandEffect => ask(`Throws away changes (${lineOf(call)})`);
const lineOf = ({ name, args }: Call): string => [name, ...args.slice(0, 4).map(shown)].join(" ");
const hooks: CommandEffect = { kind: "project", words: [], hooks: true };
/** With options that write settings of the repository, which the sandbox keeps read-only, git would stop half way. */
const configures = (options: Options, more = ""): readonly CommandEffect[] =>
  has(options, "t", "track", ...more.split(" ")) ? [CHANGE, OUTSIDE] : [CHANGE];
const commits: Effects = (_, options) => [CHANGE, hooks, ...signs("commit.gpgsign", options, "S")];
const LISTS = ["list", "l", "contains", "merged", "no-merged", "points-at", "show-current", "n", "v"];

/** Lists, makes one, or drops what `reason` says with one of the options. */
function names(dropping: string, reason: string, options: Rule["options"] = {}): Rule {
  const makes: Effects = ({ name }, given) => {
    if ((given.operands.length === 0 && !has(given, "unset-upstream")) || has(given, ...LISTS)) return [];
    if (name === "git branch") return configures(given, "u set-upstream-to unset-upstream m move M c copy C");
    const key = has(given, "a", "annotate", "m", "message", "F", "file") ? ["tag.forcesignannotated"] : [];
    return [CHANGE, ...["tag.gpgsign", ...key].flatMap((each) => signs(each, given, "s", "sign", "u", "local-user"))];
  };
  return changes(makes, { [dropping]: ask(`Runs {name} {option}, which ${reason}`), ...options });
}

/** Switches branches, or throws away changes in files: an operand that looks like a file is one. */
const checkout: Effects = (call, options) => {
  const { operands } = options;
  const creates = has(options, "b", "orphan", "t", "track", "detach", "d");
  const forced = has(options, "f", "B", "m", "p", "force", "merge", "ours", "theirs", "patch", "--", "conflict", "C");
  const [first] = operands;
  const isFile =
    first && (/[*?[]|^\.|\/$|\.[A-Za-z]\w{0,4}$/.test(first.text) || first.text.startsWith(":") || !isKnown(first));
  return forced || (!creates && (operands.length > 1 || isFile)) ? [loses(call)] : configures(options);
};

/** Throws changes away with one of these options, separated by spaces, or with words that are not known. */
const losing =
  (options: string): Effects =>
  (call, given) =>
    has(given, ...options.split(" ")) || !call.args.every(isKnown) ? [loses(call)] : configures(given);

const restore: Effects = (call, options) =>
  has(options, "staged", "S") && !has(options, "W", "s", "worktree", "source") ? [CHANGE] : [loses(call)];

const stash: Effects = (call, options) => {
  const action = options.operands[0]?.text ?? "push";
  if (action === "list" || action === "show") return READ.effects?.(call, options) ?? [];
  return /^(?:push|save|pop|apply|branch|create)$/.test(action)
    ? [CHANGE]
    : [ask(`Runs git stash ${shown(action)}, which can drop stashed changes`)];
};

const config: Effects = ({ args }, { operands: [first, ...more] }) => {
  const asked = args.some(({ text }) => /^--(?:get|list|show-)|^-l$/.test(text));
  const isChanged = args.some(({ text }) => /^--(?:add|unset|replace|rem|ren|edit)|^-e$/.test(text));
  const isRead = first?.text === "get" || first?.text === "list" || (first && more.length === 0 && args.length === 1);
  if ((asked && !isChanged) || isRead) return [];
  const key = (first?.text === "set" ? more[0] : first)?.text ?? "";
  const reason = `Changes git's settings (git config ${args.map(shown).join(" ")})`;
  const isPlain = args.every(isKnown) && PLAIN_SETTING.test(`${key}=`) && !PAGER_SETTING.test(`${key}=x`);
  return [isPlain ? ask(reason) : opaque(`${reason}, which can make it run other programs`), OUTSIDE];
};

const REMOTE_NAME = /^[A-Za-z0-9][\w.-]*$/;
/** A ref that goes into a local branch, or one of a forge for requests of anybody. */
const STRANGE_REF = /[+:]|^(?:refs|pull|pulls|merge-requests|changes)\//;

/** Fetches from a configured remote; an address on the command line could name a program. */
const fetch: Effects = (call, options) => {
  const { name } = call;
  const [remote, ...refs] = options.operands;
  const lists = name === "git ls-remote";
  const texts = refs.map(({ text }) => text);
  const odd = (remote && !REMOTE_NAME.test(remote.text)) || texts.some((text) => !/^[\w./+:*@-]+$/.test(text));
  if (odd) return [OUTSIDE, ask(`Runs ${name} with ${shown(remote ?? "")}, which the repository does not name`)];
  if (!lists && texts.some((text) => STRANGE_REF.test(text)))
    return [OUTSIDE, ask(`Runs ${lineOf(call)}, which may be the work of others or replace a branch`)];
  const mayLose = has(options, "f", "force", "hard") || valuesOf(options, "rebase").some(({ text }) => text !== "");
  if (name === "git pull" && mayLose) return [OUTSIDE, loses(call)];
  const follows = remote && !lists && { remote: remote.text, refs: texts, pulls: name === "git pull" };
  return [OUTSIDE, { kind: "look", of: "repository", ...(follows && { follows }) }];
};

const submodule: Effects = (call, { operands: [action, ...rest] }) => {
  if (!action || /^(?:status|summary|list)$/.test(action.text)) return [];
  const runs = ask(`Runs ${lineOf(call)}, which brings files, removes them, or runs other code`);
  const code = rest.map(({ text }) => text).join(" ");
  return [OUTSIDE, runs, ...(action.text === "foreach" ? [{ kind: "shell", code } as const] : [])];
};

const remote: Effects = (call, { operands: [first = knownArg("get-url")] }) =>
  first.text === "get-url" ? [] : [OUTSIDE, ask(`Runs ${lineOf(call)}, which changes where git fetches from`)];

const says = (args: readonly Arg[], ...words: readonly string[]): boolean =>
  args.some(({ text }) => words.includes(text));
const forFolder: Effects = (_, options) => [
  CHANGE,
  ...writes(options.operands.slice(-1)),
  ...(has(options, "separate-git-dir") ? [ask("Puts a repository into another folder")] : []),
];

const commands = ruleTable({
  ...readingCommands,
  // By force also files that git ignores are tracked, and what is tracked can be printed out of the repository.
  "add stage": changes((_, options) => [
    CHANGE,
    ...(has(options, "f", "force") ? reads(options.operands, "below") : []),
  ]),
  "update-index write-tree rerere": changes(),
  commit: changes(commits, { "F: file= t: template=": "read" }),
  "merge cherry-pick revert": changes(commits),
  branch: names("D f M C force edit-description move copy", "can drop a branch"),
  tag: names("d f delete force", "deletes or moves a tag", { "F: file=": "read" }),
  checkout: changes(checkout),
  switch: changes(losing("f C m force discard-changes merge")),
  restore: changes(restore),
  reset: changes(losing("hard merge keep recurse-submodules")),
  stash: changes(stash),
  config: changes(config, { "f: file= blob=": "read" }),
  "fetch pull ls-remote": changes(fetch),
  push: { ...changes(), does: [OUTSIDE, ask("Runs {line}, which sends commits to another repository")] },
  clean: changes((call, options) =>
    has(options, "n", "dry-run") && !has(options, "f", "force")
      ? []
      : [ask(`Deletes files that git does not track (${lineOf(call)})`)],
  ),
  rm: changes((_, options) => (has(options, "cached") ? [CHANGE] : deletes(options.operands))),
  mv: changes((_, { operands }) => [...deletes(operands.slice(0, -1), true, true), ...writes(operands.slice(-1))]),
  worktree: changes((call, given) => {
    const [verb = knownArg("list")] = given.operands;
    if (verb.text === "list") return [];
    const removes = ask(`Runs ${lineOf(call)}, which can remove a folder`);
    return [OUTSIDE, ...(verb.text === "add" ? forFolder(call, given) : [removes])];
  }),
  "submodule subtree sparse-checkout": { open: true, effects: submodule },
  rebase: changes(
    ({ args }, options) => [
      says(args, "--abort", "--quit", "--show-current-patch") ? CHANGE : ask("Rewrites commits (git rebase)"),
      ...signs("commit.gpgsign", options, "S"),
    ],
    { "x: exec=": "shell" },
  ),
  bisect: ({ args: [verb = knownArg(""), ...rest] }) => {
    if (!isKnown(verb)) return [opaque("Runs a command of git bisect that is not known before it runs")];
    return [CHANGE, ...(verb.text === "run" ? [{ kind: "command", words: rest } as const] : [])];
  },
  "format-patch": changes((call, given) => [CHANGE, ...historyOf(call, given)], { "o: output-directory=": "write" }),
  archive: {
    ...READ,
    options: {
      "o: output=": "write",
      "remote= exec=": opaque("Makes git archive run a program or contact another machine"),
    },
  },
  clone: {
    ...changes((_, { operands: [, to] }) => [OUTSIDE, ...writes(to ? [to] : [])]),
    does: ask("Copies the repository {operands} to this machine"),
  },
  init: changes((call, given) => [OUTSIDE, ...forFolder(call, given)]),
  remote: { open: true, effects: remote },
  reflog: {
    ...READ,
    effects: (call, options) =>
      /^(?:|show|list|exists|HEAD.*|[\w./-]+@\{.*)$/.test(options.operands[0]?.text ?? "")
        ? (READ.effects?.(call, options) ?? [])
        : [ask(`Runs ${lineOf(call)}, which drops commits that could be restored`)],
  },
  apply: changes(({ args }, { operands }) =>
    says(args, "--check", "--stat", "--numstat", "--summary") && !says(args, "--apply")
      ? reads(operands)
      : [ask("Applies a patch to the files that it names")],
  ),
  am: changes((call, given) => [ask("Applies patches and commits them"), ...commits(call, given)]),
  "hash-object": { short: "t:", long: "stdin literally no-filters path=", options: { w: CHANGE }, operands: "read" },
});

/** Settings that only change the look of the output or the name in a commit. */
const PLAIN_SETTING =
  /^(?:color\.[\w.]+|core\.(?:quotepath|pager|autocrlf|abbrev)|advice\.\w+|user\.(?:name|email)|commit\.gpgsign|tag\.gpgsign|log\.\w+|diff\.(?:renames|renamelimit|algorithm|context|noprefix|mnemonicprefix)|init\.defaultbranch|pager\.\w+|gc\.auto|protocol\.version|core\.fsmonitor|column\.\w+|status\.\w+|push\.default|pull\.(?:rebase|ff)|rebase\.autostash|safe\.directory)=(?:[^!]*)$/i;
const PAGER_SETTING = /^(?:core\.pager|pager\.\w+|core\.fsmonitor)=(?!(?:cat|less|more|true|false|)$)/i;

/** Options before the command, with values in their own word. */
const GLOBAL: Rule = {
  posix: true,
  short: "C:c:pPhv",
  long: "paginate no-pager no-replace-objects bare literal-pathspecs glob-pathspecs noglob-pathspecs icase-pathspecs no-optional-locks no-lazy-fetch html-path man-path info-path help version",
  options: {
    "git-dir= work-tree= namespace= super-prefix= attr-source= list-cmds= exec-path=?": ask(
      "Runs git with {option}, which makes it use another repository or other programs",
    ),
    "config-env=": opaque("Runs git with the setting {value}, which can make it run other programs"),
  },
  unlisted: ask("Runs git with {option}, which makes it use another repository or other programs"),
  effects: (call, options) => {
    const settings = valuesOf(options, "c").flatMap(settingEffects);
    const folders = valuesOf(options, "C");
    const [command, ...rest] = options.operands;
    if (folders.length > 0) {
      const words = [knownArg("git"), ...options.operands];
      return [...settings, { kind: "command", words, cwd: folders.reduce(below) }];
    }
    if (command === undefined) return settings;
    const effects = commandEffects(command, { ...call, args: rest });
    return [...settings, ...withSettings(effects, valuesOf(options, "c"))];
  },
};

function settingEffects(setting: Arg): readonly CommandEffect[] {
  const { text } = setting;
  const isPlain = isKnown(setting) && PLAIN_SETTING.test(text) && !PAGER_SETTING.test(text);
  return isPlain ? [] : [opaque(`Runs git with the setting ${shown(setting)}, which can make it run other programs`)];
}

function commandEffects(word: Arg, call: Call): readonly CommandEffect[] {
  if (!isKnown(word)) return [opaque(`Runs a git command that is not known before it runs: ${shown(word)}`)];
  const command = commands.get(word.text);
  if (!command)
    return [ask(`Runs git ${word.text}, which is not known to be harmless`), { kind: "history", paths: [] }];
  return command({ ...call, name: `git ${word.text}` });
}

export const gits: ReadonlyMap<string, Program> = ruleTable({ git: GLOBAL });
