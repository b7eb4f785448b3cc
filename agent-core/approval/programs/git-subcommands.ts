/** What each git command does, one small rule each. Those that only read and those that can be taken back do not ask. */
import { ask, CHANGE, type CommandEffect, opaque, type Program, reads, writes } from "../command-effect.ts";
import { type Arg, afterPrefix, isKnown, shown, UNKNOWN } from "../shell/arg.ts";

/** Options of reading commands that write a file or run a helper; abbreviations of them too. */
const SIDE_EFFECT =
  /^--(?:ou|out|outp|outpu|output|ext-|ext|exec|upload-p|receive-p|open-|open|textc|filters|to-|template)/;
const OUTPUT = /^--outp?u?t?=|^--output=/;

/** Only reads; options with side effects ask. */
const read: Program = ({ name, args }) => args.flatMap((arg) => readOption(name, arg, args));

function readOption(name: string, arg: Arg, args: readonly Arg[]): readonly CommandEffect[] {
  const { text } = arg;
  if (OUTPUT.test(text)) return writes([afterPrefix(arg, text.indexOf("=") + 1)]);
  if (/^--ou?t?p?u?t?$/.test(text) && text.length > 3) return writes(args.slice(args.indexOf(arg) + 1).slice(0, 1));
  if (text.startsWith("--output-indicator")) return [];
  if (SIDE_EFFECT.test(text) && text !== "--textconv" && !text.startsWith("--exclude")) {
    return [opaque(`Runs git ${name} with ${shown(arg)}, which runs other programs`)];
  }
  if (name === "grep" && /^-O|^-[a-zA-Z]*O/.test(text)) return [opaque("Makes git grep open files in another program")];
  // A word that may be such an option.
  if (text.startsWith(UNKNOWN) && name !== "cat-file")
    return arg.splits ? [ask(`Runs git ${name} with options that are not known`)] : [];
  return [];
}

const change: Program = (call) => [CHANGE, ...read(call)];

/** Reads with these first words or none, else asks. */
function readsWith(words: RegExp, does: string): Program {
  return (call) => {
    const [first] = call.args.filter(({ text }) => !text.startsWith("-"));
    if (first === undefined || words.test(first.text)) return read(call);
    return [ask(`Runs git ${call.name} ${shown(first)}, which ${does}`, "prefix")];
  };
}

/** Changes what can be had back, unless an option or word makes it lose something. */
function changesUnless(bad: RegExp, does: string): Program {
  return (call) => {
    const odd = call.args.filter((arg) => bad.test(arg.text) || (arg.splits && !isKnown(arg)));
    return [...change(call), ...odd.map((arg) => ask(`Runs git ${call.name} with ${shown(arg)}, which ${does}`))];
  };
}

function asks(does: string): Program {
  return ({ name, args }) => {
    const words = args.slice(0, 4).map(shown).join(" ");
    return [ask(`Runs git ${name}${words ? ` ${words}` : ""}, which ${does}`, "prefix")];
  };
}

const branch: Program = (call) => {
  const operands = call.args.filter(({ text }) => !text.startsWith("-"));
  const bad = call.args.find(({ text }) => /^-[a-zA-Z]*[dDfMC]|^--(?:del|forc|edit|move|copy)/.test(text));
  if (bad) return [ask(`Runs git branch ${shown(bad)}, which can drop a branch`)];
  return operands.length === 0 ||
    call.args.some(({ text }) => /^(?:--list|-l|--contains|--merged|--no-merged|--points-at|--show-current)/.test(text))
    ? read(call)
    : change(call);
};

const tag: Program = (call) => {
  const operands = call.args.filter(({ text }) => !text.startsWith("-"));
  if (call.args.some(({ text }) => /^-[a-zA-Z]*[df]|^--(?:del|forc)/.test(text)))
    return [ask("Deletes or moves a tag")];
  return operands.length === 0 ||
    call.args.some(({ text }) => /^(?:-l|--list|-n\d*|--contains|--points-at|-v)/.test(text))
    ? read(call)
    : change(call);
};

/** `checkout` switches branches, and throws away changes in files: a name that looks like a file is one. */
const checkout: Program = (call) => {
  const { args } = call;
  const operands = args.filter(({ text }) => !text.startsWith("-"));
  const creates = args.some(({ text }) => /^(?:-b|--orphan|-t|--track|--detach|-d)$/.test(text));
  const forced = args.find(({ text }) =>
    /^-[a-zA-Z]*[fBmp]|^--(?:fo|forc|mer|our|thei|pat|over|conf|ignore)|^--$/.test(text),
  );
  const [first] = operands;
  const fileLike =
    first && (/[*?[]|^\.|\/$|\.[A-Za-z]\w{0,4}$/.test(first.text) || first.text.startsWith(":") || !isKnown(first));
  if (forced || (!creates && (operands.length > 1 || fileLike))) {
    return [ask(`Throws away changes in the working tree (git checkout ${args.map(shown).join(" ")})`)];
  }
  return [CHANGE];
};

const restore: Program = ({ args }) => {
  const staged = args.some(({ text }) => /^(?:--staged|-S)$/.test(text));
  const tree = args.some(({ text }) => /^-\w*W|^--(?:wo|worktree|sou|source)|^-s/.test(text));
  return staged && !tree
    ? [CHANGE]
    : [ask(`Throws away changes in the working tree (git restore ${args.map(shown).join(" ")})`)];
};

const reset: Program = ({ args }) => {
  const hard = args.find((arg) => /^--(?:ha|me|ke|recurse)/.test(arg.text) || !isKnown(arg));
  return hard ? [ask(`Throws away changes (git reset ${args.map(shown).join(" ")})`)] : [CHANGE];
};

const stash: Program = (call) => {
  const action = call.args[0]?.text ?? "push";
  if (action === "list" || action === "show") return read(call);
  if (/^(?:push|save|pop|apply|branch|-\S*|create)$/.test(action)) return [CHANGE];
  return [ask(`Runs git stash ${action}, which can drop what was stashed`)];
};

const config: Program = (call) => {
  const { args } = call;
  const words = args.filter(({ text }) => !text.startsWith("-")).map(({ text }) => text);
  const reading = args.some(({ text }) =>
    /^(?:--get(?:-all|-regexp|-urlmatch|-color|-colorbool)?|--list|-l|--show-\w+)$/.test(text),
  );
  if (
    (reading && !args.some(({ text }) => /^--(?:add|unset|replace|rem|ren|edit)|^-e$/.test(text))) ||
    /^(?:get|list)$/.test(words[0] ?? "")
  )
    return [];
  if (words.length === 1 && args.length === 1) return [];
  return [ask(`Changes git's settings (git config ${args.map(shown).join(" ")})`)];
};

const remoteName = /^[A-Za-z0-9][\w.-]*$/;

/** Fetching from a remote that is set up; an address on the command line could name a program to run. */
const fetch: Program = ({ name, args }) => {
  const operands = args.filter(({ text }) => !text.startsWith("-"));
  const bad = args.find(({ text }) => /^--(?:upl|exec|rec|server-o)|^-o/.test(text));
  const [remote, ...refs] = operands;
  const odd = (remote && !remoteName.test(remote.text)) || refs.some(({ text }) => !/^[\w./+:*@-]+$/.test(text));
  if (bad || odd)
    return [ask(`Runs git ${name} with ${shown(bad ?? remote ?? "")}, an address or a program of its own`)];
  const loses = args.find(({ text }) => /^-\w*f|^--(?:forc|rebase|hard)|^-r$/.test(text) && name === "pull");
  return loses && loses.text !== "--rebase" ? [ask(`Runs git pull with ${shown(loses)}`)] : [CHANGE];
};

const rm: Program = ({ args }) => {
  const paths = args.filter(({ text }) => !text.startsWith("-"));
  if (args.some(({ text }) => text === "--cached")) return [CHANGE];
  return paths.map((path) => ({ kind: "delete", path, recursive: true }));
};

const mv: Program = ({ args }) => {
  const paths = args.filter(({ text }) => !text.startsWith("-"));
  const removed = paths
    .slice(0, -1)
    .map((path): CommandEffect => ({ kind: "delete", path, recursive: true, moves: true }));
  return [...removed, ...writes(paths.slice(-1))];
};

const worktree: Program = (call) => {
  const [action, ...rest] = call.args;
  if (action?.text === "list") return [];
  if (action?.text !== "add")
    return [ask(`Runs git worktree ${action ? shown(action) : ""}, which can remove a folder`)];
  return [CHANGE, ...writes(rest.filter(({ text }) => !text.startsWith("-")).slice(0, 1))];
};

const submodule: Program = (call) => {
  const words = call.args.filter(({ text }) => !text.startsWith("-"));
  const [action, ...rest] = words;
  if (!action || action.text === "status" || action.text === "summary") return [];
  const shell: CommandEffect[] =
    action.text === "foreach" ? [{ kind: "shell", code: rest.map(({ text }) => text).join(" ") }] : [];
  return [ask(`Runs git submodule ${shown(action)}, which fetches or runs other code`), ...shell];
};

/** `rebase -x` and `bisect run` run a shell command. */
const rebase: Program = (call) => {
  const codes = call.args.flatMap((arg, at) => {
    if (/^(?:-x|--exec)$/.test(arg.text)) return [call.args[at + 1]?.text ?? UNKNOWN];
    return /^--exec=|^-x./.test(arg.text) ? [arg.text.replace(/^--exec=|^-x/, "")] : [];
  });
  const shells = codes.map((code): CommandEffect => ({ kind: "shell", code }));
  if (call.args.some(({ text }) => /^--(?:abort|quit|show-current-patch)$/.test(text))) return [CHANGE];
  return [ask("Rewrites commits (git rebase)", "prefix"), ...shells];
};

const bisect: Program = ({ args }) => {
  if (args[0]?.text === "run") return [CHANGE, { kind: "command", words: args.slice(1) }];
  return [CHANGE];
};

const filterBranch: Program = ({ args }) => {
  const codes = args.filter((_, at) => /-filter$/.test(args[at - 1]?.text ?? ""));
  return [
    ask("Rewrites the whole history of the repository"),
    ...codes.map(({ text }): CommandEffect => ({ kind: "shell", code: text })),
  ];
};

const formatPatch: Program = ({ args }) => {
  const folder = args.flatMap((arg, at) => {
    if (/^(?:-o|--output-directory)$/.test(arg.text)) return args.slice(at + 1, at + 2);
    return arg.text.startsWith("--output-directory=") ? [afterPrefix(arg, 19)] : [];
  });
  return [CHANGE, ...writes(folder)];
};

const archive: Program = (call) => {
  const output = call.args.flatMap((arg, at) => {
    if (/^(?:-o|--output)$/.test(arg.text)) return call.args.slice(at + 1, at + 2);
    return arg.text.startsWith("--output=") ? [afterPrefix(arg, 9)] : [];
  });
  const remote = call.args.some(({ text }) => /^--(?:remote|exec)/.test(text));
  return [...writes(output), ...(remote ? [opaque("Makes git archive run a program or ask another machine")] : [])];
};

const clone: Program = ({ args }) => {
  const [from, to] = args.filter(({ text }) => !text.startsWith("-"));
  return [ask(`Copies the repository ${from ? shown(from) : ""} to this machine`), ...writes(to ? [to] : [])];
};

const init: Program = ({ args }) => {
  const [folder] = args.filter(({ text }) => !text.startsWith("-"));
  const template = args.some(({ text }) => /^--(?:template|separate|sep)/.test(text));
  return template
    ? [ask("Makes a repository from a template, which can bring hooks")]
    : [CHANGE, ...writes(folder ? [folder] : [])];
};

const remote: Program = (call) => {
  const [first] = call.args.filter(({ text }) => !text.startsWith("-"));
  if (!first || /^(?:show|get-url)$/.test(first.text)) return first?.text === "show" ? [CHANGE] : [];
  return [ask(`Runs git remote ${shown(first)}, which changes where commits come from and go to`)];
};

const READING =
  "status diff log show grep blame annotate shortlog describe rev-parse rev-list ls-files ls-tree cat-file name-rev merge-base for-each-ref show-ref show-branch diff-tree diff-index diff-files count-objects fsck check-ignore check-attr check-mailmap whatchanged var version help range-diff cherry verify-commit verify-tag verify-pack diff-pairs last-modified merge-tree stripspace get-tar-commit-id column interpret-trailers show-index patch-id check-ref-format";
const CHANGING = "add stage commit merge cherry-pick revert switch update-index write-tree rerere";

export const subcommands: ReadonlyMap<string, Program> = new Map<string, Program>([
  ...READING.split(" ").map((name): [string, Program] => [name, read]),
  ...CHANGING.split(" ").map((name): [string, Program] => [name, change]),
  ["switch", changesUnless(/^-[a-zA-Z]*[fCm]|^--(?:forc|dis|mer|ign)/, "throws away changes")],
  ["branch", branch],
  ["tag", tag],
  ["checkout", checkout],
  ["restore", restore],
  ["reset", reset],
  ["stash", stash],
  ["config", config],
  ["remote", remote],
  ["fetch", fetch],
  ["pull", fetch],
  ["ls-remote", fetch],
  ["push", asks("sends commits to another repository")],
  ["send-email", asks("sends mail")],
  [
    "clean",
    ({ args }) =>
      args.some(({ text }) => /^-\w*n|^--dry-run$/.test(text)) &&
      args.every(({ text }) => !/^-\w*f|^--force/.test(text))
        ? []
        : [ask(`Deletes files that git does not know (git clean ${args.map(shown).join(" ")})`)],
  ],
  ["rm", rm],
  ["mv", mv],
  ["worktree", worktree],
  ["submodule", submodule],
  ["rebase", rebase],
  ["bisect", bisect],
  ["filter-branch", filterBranch],
  ["format-patch", formatPatch],
  ["archive", archive],
  ["clone", clone],
  ["init", init],
  ["reflog", readsWith(/^(?:show|list|exists|HEAD.*|[\w./-]+@\{.*)$/, "drops what could be had back")],
  [
    "symbolic-ref",
    ({ args }) =>
      args.filter(({ text }) => !text.startsWith("-")).length > 1 ? [ask("Moves HEAD to another branch")] : [],
  ],
  ["notes", readsWith(/^(?:list|show|get-ref)$/, "changes notes")],
  [
    "apply",
    ({ args }) =>
      args.some(({ text }) => /^--(?:check|stat|numstat|summary)$/.test(text)) &&
      !args.some(({ text }) => text === "--apply")
        ? reads(args.filter(({ text }) => !text.startsWith("-")))
        : [ask("Applies a patch, to whatever files it names")],
  ],
  ["hash-object", ({ args }) => (args.some(({ text }) => /^-\w*w/.test(text)) ? [CHANGE] : [])],
]);
