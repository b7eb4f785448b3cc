/** Rules for git: its global options, and what each of its commands does. Commands that can be undone do not ask. */
import {
  ask,
  type Call,
  CHANGE,
  type CommandEffect,
  opaque,
  type Program,
  reads,
  readsBelow,
  writes,
} from "../command-effect.ts";
import { type Arg, isKnown, knownArg, shown } from "../shell/arg.ts";
import { historyOf, READ, readingCommands, SPECIAL_OPTIONS } from "./git-reading.ts";
import { has, type Options, valuesOf } from "./options.ts";
import { type Rule, ruleTable } from "./rule.ts";

/** Needs another machine, the user's keys, or git's own settings. */
const OUTSIDE: CommandEffect = { kind: "reach", reach: "outside" };

/** Prints the hunks that it lets one choose from. */
function choosing(options: Options): readonly CommandEffect[] {
  const isChosen = has(options, "p", "patch", "i", "interactive") || has(options, "dry-run");
  return isChosen ? [{ kind: "history", paths: [] }] : [];
}

type Effects = NonNullable<Rule["effects"]>;

/** A command that changes the index, branches or commits; the earlier state can be restored. */
function changes(effects: Effects = () => [CHANGE], options: Rule["options"] = {}): Rule {
  return {
    open: true,
    options: { ...SPECIAL_OPTIONS, ...options },
    effects: (call, given) => [...choosing(given), ...effects(call, given)],
  };
}

/** With these first words or none it reads, else it asks. */
function readsWith(words: RegExp, does: string): Rule {
  return {
    ...READ,
    effects: (call, options) => {
      const [first] = options.operands;
      if (first === undefined || words.test(first.text)) return READ.effects?.(call, options) ?? [];
      return [ask(`Runs ${call.name} ${shown(first)}, which ${does}`)];
    },
  };
}

const loses = (call: Call): CommandEffect => ask(`Throws away changes (${lineOf(call)})`);
const lineOf = ({ name, args }: Call): string => [name, ...args.slice(0, 4).map(shown)].join(" ");
const runsHooks: readonly CommandEffect[] = [CHANGE, { kind: "project", words: [], hooks: true }];
const LISTS = ["list", "l", "contains", "merged", "no-merged", "points-at", "show-current", "n", "v"];

/** Lists, makes one, or drops what `reason` says with one of the options. */
function names(dropping: string, reason: string, options: Rule["options"] = {}): Rule {
  return changes((_, options) => (options.operands.length === 0 || has(options, ...LISTS) ? [] : [CHANGE]), {
    [dropping]: ask(`Runs {name} {option}, which ${reason}`),
    ...options,
  });
}

/** Switches branches, or throws away changes in files: an operand that looks like a file is one. */
const checkout: Effects = (call, options) => {
  const { operands } = options;
  const creates = has(options, "b", "orphan", "t", "track", "detach", "d");
  const forced = has(options, "f", "B", "m", "p", "force", "merge", "ours", "theirs", "patch", "--", "conflict", "C");
  const [first] = operands;
  const isFile =
    first && (/[*?[]|^\.|\/$|\.[A-Za-z]\w{0,4}$/.test(first.text) || first.text.startsWith(":") || !isKnown(first));
  return forced || (!creates && (operands.length > 1 || isFile)) ? [loses(call)] : [CHANGE];
};

const switches: Effects = (call, options) =>
  has(options, "f", "C", "m", "force", "discard-changes", "merge") || options.operands.some((arg) => !isKnown(arg))
    ? [loses(call)]
    : [CHANGE];

const restore: Effects = (call, options) =>
  has(options, "staged", "S") && !has(options, "W", "s", "worktree", "source") ? [CHANGE] : [loses(call)];

const reset: Effects = (call, options) =>
  has(options, "hard", "merge", "keep", "recurse-submodules") || !call.args.every(isKnown) ? [loses(call)] : [CHANGE];

const stash: Effects = (call, options) => {
  const action = options.operands[0]?.text ?? "push";
  if (action === "list" || action === "show") return READ.effects?.(call, options) ?? [];
  return /^(?:push|save|pop|apply|branch|create)$/.test(action)
    ? [CHANGE]
    : [ask(`Runs git stash ${shown(action)}, which can drop stashed changes`)];
};

/** One key alone is read. */
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

const submodule: Effects = ({ args }, { operands: [action, ...rest] }) => {
  if (!action || action.text === "status" || action.text === "summary") return [];
  const runs = ask(`Runs git submodule ${args.slice(0, 3).map(shown).join(" ")}, which fetches or runs other code`);
  const code = rest.map(({ text }) => text).join(" ");
  return [OUTSIDE, runs, ...(action.text === "foreach" ? [{ kind: "shell", code } as const] : [])];
};

const remote: Effects = ({ args }, { operands: [first] }) =>
  first === undefined || first.text === "get-url"
    ? []
    : [OUTSIDE, ask(`Runs git remote ${args.slice(0, 3).map(shown).join(" ")}, which changes where git fetches from`)];

const says = (args: readonly Arg[], ...words: readonly string[]): boolean =>
  args.some(({ text }) => words.includes(text));
const deletes = (paths: readonly Arg[], moves: boolean) =>
  paths.map((path): CommandEffect => ({ kind: "delete", path, recursive: true, moves }));
const forFolder: Effects = (_, options) => [
  CHANGE,
  ...writes(options.operands.slice(-1)),
  ...(has(options, "separate-git-dir") ? [ask("Puts a repository into another folder")] : []),
];
const asksOutside = (does: string, ...more: readonly CommandEffect[]): Rule => ({
  ...changes(),
  does: [OUTSIDE, ask(`Runs {line}, which ${does}`), ...more],
});

const commands = ruleTable({
  ...readingCommands,
  // By force also files that git ignores are tracked, and what is tracked can be printed out of the repository.
  "add stage": changes((_, options) => [CHANGE, ...(has(options, "f", "force") ? readsBelow(options.operands) : [])]),
  "update-index write-tree rerere": changes(),
  commit: changes(() => runsHooks, { "F: file= t: template=": "read" }),
  "merge cherry-pick revert": changes(() => runsHooks),
  branch: names("d D f M C delete force edit-description move copy", "can drop a branch"),
  tag: names("d f delete force", "deletes or moves a tag", { "F: file=": "read" }),
  checkout: changes(checkout),
  switch: changes(switches),
  restore: changes(restore),
  reset: changes(reset),
  stash: changes(stash),
  config: changes(config, { "f: file= blob=": "read" }),
  "fetch pull ls-remote": changes(fetch),
  push: asksOutside("sends commits to another repository"),
  "svn p4 lfs send-email imap-send credential maintenance fetch-pack send-pack": asksOutside("leaves this repository"),
  clean: changes((call, options) =>
    has(options, "n", "dry-run") && !has(options, "f", "force")
      ? []
      : [ask(`Deletes files that git does not track (${lineOf(call)})`)],
  ),
  rm: changes((_, options) => (has(options, "cached") ? [CHANGE] : deletes(options.operands, false))),
  mv: changes((_, { operands }) => [...deletes(operands.slice(0, -1), true), ...writes(operands.slice(-1))]),
  worktree: {
    verbs: { list: READ, add: changes((call, given) => [OUTSIDE, ...forFolder(call, given)]) },
    otherwise: { does: [OUTSIDE, ask("Runs {line}, which can remove a folder")] },
  },
  submodule: { open: true, effects: submodule },
  rebase: changes(
    ({ args }) =>
      says(args, "--abort", "--quit", "--show-current-patch") ? [CHANGE] : [ask("Rewrites commits (git rebase)")],
    { "x: exec=": "shell" },
  ),
  bisect: { open: true, does: CHANGE, verbs: { run: { wraps: 0 } } },
  "filter-branch": {
    ...changes(() => [ask("Rewrites the whole history of the repository")]),
    options: Object.fromEntries(
      "env tree index parent msg commit tag-name".split(" ").map((name) => [`${name}-filter=`, "shell" as const]),
    ),
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
  reflog: readsWith(/^(?:show|list|exists|HEAD.*|[\w./-]+@\{.*)$/, "drops commits that could be restored"),
  notes: readsWith(/^(?:list|show|get-ref)$/, "changes notes"),
  "symbolic-ref": changes((_, { operands }) => (operands.length > 1 ? [ask("Moves HEAD to another branch")] : [])),
  apply: changes(({ args }, { operands }) =>
    says(args, "--check", "--stat", "--numstat", "--summary") && !says(args, "--apply")
      ? reads(operands)
      : [ask("Applies a patch to the files that it names")],
  ),
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
    return command ? [...settings, ...commandEffects(command, { ...call, args: rest })] : settings;
  },
};

/** Several `-C` lead one from the other. */
function below(folder: Arg, next: Arg): Arg {
  return next.text.startsWith("/") ? next : { ...next, text: `${folder.text}/${next.text}` };
}

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
