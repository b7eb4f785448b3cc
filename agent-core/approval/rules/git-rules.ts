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
import { CHANGING, historyOf, LOG, READ, readingCommands } from "./git-reading.ts";
import { has, valuesOf } from "./options.ts";
import { CHANGES, LOOKS, programOf, type Rule, ruleTable, withEffects, withOptions } from "./rule.ts";

/** Prints the hunks that it lets one choose from. */
const choosing: NonNullable<Rule["effects"]> = (_, options) =>
  has(options, "p", "patch", "i", "interactive") || (has(options, "dry-run") && has(options, "v", "verbose"))
    ? [{ kind: "history", paths: [] }]
    : [];

/** By force also files that git ignores are tracked, and what is tracked can be printed out of the repository. */
const tracks: Rule["effects"] = (call, options) => [
  ...choosing(call, options),
  ...(has(options, "f", "force") ? readsBelow(options.operands) : []),
];

/** A command that changes the index or adds commits; the earlier state can be restored. */
const CHANGE_REPOSITORY: Rule = {
  ...CHANGING,
  ...(READ.options && { options: READ.options }),
  does: CHANGE,
  effects: choosing,
};

/** A command that lists with some options and changes with others. */
const CHANGE_LISTS: Rule = { ...CHANGING, ...(READ.options && { options: READ.options }) };

const dropsBranch = ask("Runs {name} {option}, which can drop a branch");
const branch = withEffects(
  withOptions(CHANGE_LISTS, { "d D f M C delete force edit-description move copy": dropsBranch }),
  (_, options) =>
    options.operands.length === 0 ||
    has(options, "list", "l", "contains", "merged", "no-merged", "points-at", "show-current")
      ? []
      : [CHANGE],
);

const tag = withEffects(
  withOptions(
    { ...CHANGE_LISTS, short: CHANGING.short.replace("F", "") },
    { "d f delete force": ask("Deletes or moves a tag ({line})"), "F: file=": "read" },
  ),
  (_, options) =>
    options.operands.length === 0 || has(options, "l", "list", "n", "contains", "points-at", "v") ? [] : [CHANGE],
);

/** Switches branches, or throws away changes in files: an operand that looks like a file is one. */
const checkout: Rule = {
  ...CHANGING,
  effects: ({ args }, options) => {
    const { operands } = options;
    const creates = args.some(({ text }) => /^(?:-b|--orphan|-t|--track|--detach|-d)$/.test(text));
    const forced =
      has(options, "f", "B", "m", "p", "force", "merge", "ours", "theirs", "patch", "overlay", "no-overlay", "--") ||
      has(options, "conflict", "ignore-skip-worktree-bits", "ignore-other-worktrees");
    const [first] = operands;
    const isFile =
      first && (/[*?[]|^\.|\/$|\.[A-Za-z]\w{0,4}$/.test(first.text) || first.text.startsWith(":") || !isKnown(first));
    return forced || (!creates && (operands.length > 1 || isFile))
      ? [ask(`Throws away changes in the working tree (git checkout ${args.map(shown).join(" ")})`)]
      : [CHANGE];
  },
};

const restore: Rule = {
  ...CHANGING,
  short: `${CHANGING.short.replace("s", "")}s:`,
  effects: ({ args }, options) => {
    const staged = args.some(({ text }) => text === "--staged" || text === "-S");
    return staged && !has(options, "W", "s", "worktree", "source")
      ? [CHANGE]
      : [ask(`Throws away changes in the working tree (git restore ${args.map(shown).join(" ")})`)];
  },
};

const reset: Rule = {
  ...CHANGING,
  effects: ({ args }, options) =>
    has(options, "hard", "merge", "keep", "recurse-submodules") || !args.every(isKnown)
      ? [ask(`Throws away changes (git reset ${args.map(shown).join(" ")})`)]
      : [CHANGE],
};

const stash: Program = (call) => {
  const action = call.args[0]?.text ?? "push";
  if (action === "list" || action === "show") return programOf(LOG)(call);
  if (/^(?:push|save|pop|apply|branch|-\S*|create)$/.test(action)) return programOf(CHANGE_REPOSITORY)(call);
  return [ask(`Runs git stash ${shown(action)}, which can drop stashed changes`)];
};

const config: Rule = {
  ...CHANGING,
  short: CHANGING.short.replace("f", ""),
  options: { "f: file= blob=": "read" },
  effects: ({ args }, { operands: [first, ...more] }) => {
    const asked = args.some(({ text }) =>
      /^(?:--get(?:-all|-regexp|-urlmatch|-color|-colorbool)?|--list|-l|--show-\w+)$/.test(text),
    );
    const changes = args.some(({ text }) => /^--(?:add|unset|replace|rem|ren|edit)|^-e$/.test(text));
    const reads = (asked && !changes) || first?.text === "get" || first?.text === "list";
    if (reads || (first && more.length === 0 && args.length === 1)) return [];
    const reason = `Changes git's settings (git config ${args.map(shown).join(" ")})`;
    const key = (first?.text === "set" ? more[0] : first)?.text ?? "";
    const isPlain = args.every(isKnown) && PLAIN_SETTING.test(`${key}=`) && !PAGER_SETTING.test(`${key}=x`);
    return [isPlain ? ask(reason) : opaque(`${reason}, which can make it run other programs`)];
  },
};

const REMOTE_NAME = /^[A-Za-z0-9][\w.-]*$/;

/** A ref that goes into a local branch, or one of a forge for requests of anybody. */
const STRANGE_REF = /[+:]|^(?:refs|pull|pulls|merge-requests|changes)\//;

/** Fetches from a configured remote; an address on the command line could name a program. */
const fetch: Rule = {
  ...CHANGING,
  options: {
    "upload-pack= exec= receive-pack=": opaque("Runs {name} with {option}, which runs a program"),
    "recurse-submodules=? server-option= o:": ask("Runs {name} with {option}, which reaches other repositories"),
  },
  effects: ({ name }, options) => {
    const [remote, ...refs] = options.operands;
    const odd = (remote && !REMOTE_NAME.test(remote.text)) || refs.some(({ text }) => !/^[\w./+:*@-]+$/.test(text));
    if (odd) return [ask(`Runs ${name} with ${shown(remote ?? "")}, an address that the repository does not name`)];
    const names = refs.map(({ text }) => text);
    if (name !== "git ls-remote" && names.some((text) => STRANGE_REF.test(text)))
      return [ask(`Runs ${name} with ${names.join(" ")}, which may be the work of others or replace a branch`)];
    const loses = ["f", "force", "hard", "r", "rebase"].find((each) => has(options, each));
    const isAllowed =
      loses === undefined ||
      name !== "git pull" ||
      (loses === "rebase" && valuesOf(options, "rebase").every(({ text }) => text === ""));
    const follows = remote &&
      name !== "git ls-remote" && { remote: remote.text, refs: names, pulls: name === "git pull" };
    return isAllowed
      ? [{ kind: "look", of: "repository", ...(follows && { follows }) }]
      : [ask("Runs git pull with an option that can lose local commits or changes")];
  },
};

/** True when one of the words is exactly this. */
function says(args: readonly Arg[], ...words: readonly string[]): boolean {
  return args.some(({ text }) => words.includes(text));
}

const remove: Rule = {
  ...CHANGING,
  effects: (_, options) =>
    has(options, "cached")
      ? [CHANGE]
      : options.operands.map((path): CommandEffect => ({ kind: "delete", path, recursive: true })),
};

const move: Rule = {
  ...CHANGING,
  effects: (_, { operands }) => [
    ...operands.slice(0, -1).map((path): CommandEffect => ({ kind: "delete", path, recursive: true, moves: true })),
    ...writes(operands.slice(-1)),
  ],
};

const submodule: Rule = {
  open: true,
  effects: (_, { operands: [action, ...rest] }) => {
    if (!action || action.text === "status" || action.text === "summary") return [];
    const runs = ask(`Runs git submodule ${shown(action)}, which fetches or runs other code`);
    if (action.text !== "foreach") return [runs];
    return [runs, { kind: "shell", code: rest.map(({ text }) => text).join(" ") }];
  },
};

const filterBranch: Program = ({ args }) => {
  const codes = args.filter((_, at) => /-filter$/.test(args[at - 1]?.text ?? ""));
  return [
    ask("Rewrites the whole history of the repository"),
    ...codes.map(({ text }): CommandEffect => ({ kind: "shell", code: text })),
  ];
};

const clean: Rule = {
  open: true,
  effects: ({ args }, options) => {
    const shows = args.some(({ text }) => /^-\w*n|^--dry-run$/.test(text));
    return shows && !has(options, "f", "force")
      ? []
      : [ask(`Deletes files that git does not track (git clean ${args.map(shown).join(" ")})`)];
  },
};

/** Reads with these first words or none, else asks. */
function readsWith(words: RegExp, does: string): Rule {
  return {
    open: true,
    effects: (call, { operands: [first] }) =>
      first === undefined || words.test(first.text)
        ? programOf(READ)(call)
        : [ask(`Runs ${call.name} ${shown(first)}, which ${does}`, "prefix")],
  };
}

const asks = (does: string): Rule => ({ does: ask(`Runs {line}, which ${does}`, "prefix") });
const forFolder: Rule = {
  ...CHANGING,
  effects: (_, { operands }) => [CHANGE, ...writes(operands.slice(0, 1))],
};

const COMMANDS: Readonly<Record<string, Rule | Program>> = {
  ...readingCommands,
  "add stage": { ...CHANGE_REPOSITORY, effects: tracks },
  "update-index write-tree rerere": CHANGE_REPOSITORY,
  commit: {
    ...CHANGE_REPOSITORY,
    short: CHANGING.short.replace(/[Ft]/g, ""),
    options: { ...CHANGE_REPOSITORY.options, "F: file= t: template=": "read" },
    does: [CHANGE, { kind: "project", words: [], hooks: true }],
  },
  "merge cherry-pick revert": { ...CHANGE_REPOSITORY, does: [CHANGE, { kind: "project", words: [], hooks: true }] },
  switch: withEffects(
    withOptions(CHANGE_REPOSITORY, {
      "f C m force discard-changes merge ignore-other-worktrees": ask(
        "Runs {name} with {option}, which throws away changes",
      ),
    }),
    ({ args, name }) =>
      args
        .filter((arg) => arg.splits && !isKnown(arg))
        .map((arg) => ask(`Runs ${name} with ${shown(arg)}, which throws away changes`)),
  ),
  branch,
  tag,
  checkout: withEffects(checkout, choosing),
  restore: withEffects(restore, choosing),
  reset: withEffects(reset, choosing),
  stash,
  config,
  remote: {
    short: "v",
    long: "verbose",
    verbs: { show: CHANGES, "get-url": LOOKS },
    otherwise: { does: ask("Runs {line}, which changes the remotes of the repository") },
  },
  "fetch pull ls-remote": fetch,
  push: asks("sends commits to another repository"),
  "send-email": asks("sends mail"),
  clean,
  rm: remove,
  mv: move,
  worktree: {
    verbs: { list: LOOKS, add: forFolder },
    otherwise: { does: ask("Runs {line}, which can remove a folder") },
    effects: ({ args: [first] }) =>
      first?.text.startsWith("-") === false ? [] : [ask("Runs git worktree, which can remove a folder")],
  },
  submodule,
  rebase: {
    open: true,
    options: { "x: exec=": "shell" },
    effects: ({ args }) =>
      says(args, "--abort", "--quit", "--show-current-patch")
        ? [CHANGE]
        : [ask("Rewrites commits (git rebase)", "prefix")],
  },
  bisect: { open: true, does: CHANGE, verbs: { run: { wraps: 0 } } },
  "filter-branch": filterBranch,
  "format-patch": { ...CHANGING, does: CHANGE, options: { "o: output-directory=": "write" }, effects: historyOf },
  archive: {
    short: "lv0123456789",
    long: "format= prefix= list verbose worktree-attributes add-file= mtime=",
    options: {
      "o: output=": "write",
      "remote= exec=": opaque("Makes git archive run a program or contact another machine"),
    },
    ...(READ.effects && { effects: READ.effects }),
  },
  clone: {
    open: true,
    options: {
      "u: upload-pack= c: config= template=": opaque("Runs {name} with {option}, which can make it run programs"),
    },
    effects: (_, { operands: [from, to] }) => [
      ask(`Copies the repository ${from ? shown(from) : ""} to this machine`),
      ...writes(to ? [to] : []),
    ],
  },
  init: withEffects({ ...CHANGING, long: `${CHANGING.long} template=` }, (call, options) =>
    has(options, "template", "separate-git-dir")
      ? [ask("Makes a repository from a template, which can bring hooks")]
      : (forFolder.effects?.(call, options) ?? []),
  ),
  reflog: readsWith(/^(?:show|list|exists|HEAD.*|[\w./-]+@\{.*)$/, "drops commits that could be restored"),
  "symbolic-ref": {
    short: "qdm:",
    long: "short quiet delete no-recurse",
    effects: (_, { operands }) => (operands.length > 1 ? [ask("Moves HEAD to another branch")] : []),
  },
  notes: readsWith(/^(?:list|show|get-ref)$/, "changes notes"),
  apply: {
    ...CHANGING,
    effects: ({ args }, { operands }) =>
      says(args, "--check", "--stat", "--numstat", "--summary") && !says(args, "--apply")
        ? reads(operands)
        : [ask("Applies a patch to the files that it names")],
  },
  "hash-object": {
    short: "t:",
    long: "stdin literally no-filters path=",
    options: { w: CHANGE },
    operands: "read",
  },
};

const commands = ruleTable(COMMANDS);

/** Settings that only change the look of the output or the name in a commit. */
const PLAIN_SETTING =
  /^(?:color\.[\w.]+|core\.(?:quotepath|pager|autocrlf|abbrev)|advice\.\w+|user\.(?:name|email)|commit\.gpgsign|tag\.gpgsign|log\.\w+|diff\.(?:renames|renamelimit|algorithm|context|noprefix|mnemonicprefix)|init\.defaultbranch|pager\.\w+|gc\.auto|protocol\.version|core\.fsmonitor|column\.\w+|status\.\w+|push\.default|pull\.(?:rebase|ff)|rebase\.autostash|safe\.directory)=(?:[^!]*)$/i;
const PAGER_SETTING = /^(?:core\.pager|pager\.\w+|core\.fsmonitor)=(?!(?:cat|less|more|true|false|)$)/i;

/** Options before the command, with values in their own word. */
const GLOBAL: Rule = {
  posix: true,
  exact: true,
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
  if (isKnown(setting) && PLAIN_SETTING.test(text) && !PAGER_SETTING.test(text)) return [];
  const code = /^alias\.[^=]*=!([\s\S]*)$/i.exec(text)?.[1] ?? /=!?([\s\S]*)$/.exec(text)?.[1];
  const raised: CommandEffect[] = code === undefined ? [] : [{ kind: "shell", code, escalateOnly: true }];
  return [opaque(`Runs git with the setting ${shown(setting)}, which can make it run other programs`), ...raised];
}

function commandEffects(word: Arg, call: Call): readonly CommandEffect[] {
  if (!isKnown(word)) return [opaque(`Runs a git command that is not known before it runs: ${shown(word)}`)];
  const command = commands.get(word.text);
  if (!command)
    return [ask(`Runs git ${word.text}, which is not known to be harmless`, "prefix"), { kind: "history", paths: [] }];
  return command({ ...call, name: `git ${word.text}` });
}

export const gits: ReadonlyMap<string, Program> = ruleTable({ git: GLOBAL });
