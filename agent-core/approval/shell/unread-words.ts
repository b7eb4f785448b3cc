/** Words of a call that no rule describes: files that the program may read, and commands that it may run. */
import { basename } from "node:path";
import { catastrophicReason } from "../catastrophic-paths.ts";
import { type Call, type CommandEffect, opaque, unread } from "../command-effect.ts";
import { heldBackWords, judgePath, type PathJudge, piecesOf } from "../judge-path.ts";
import { isHiddenFolder } from "../read-places.ts";
import { isSecretName } from "../secret-paths.ts";
import { type Arg, knownArg, shown } from "./arg.ts";
import { foldersOf } from "./run-effects.ts";
import type { Setting, Walk } from "./shell-state.ts";

const MAX_WORD = 1_000;

/** Judges the files that the words of a call name, whatever option they belong to. */
export function judgeUnread(call: Call, effects: readonly CommandEffect[], setting: Setting, walk: Walk): void {
  judgeWords(call, effects, setting, walk);
  judgeCode(call, effects, walk);
}

/** Calls that delete, and words that end the machine, in the languages of shells and interpreters. */
const DELETES = /rmtree|rm_?r?f?(?:Sync)?\b|rmdir|unlink|remove|delete|rimraf|erase|wipe/i;
const SHELL_DELETES = /\brm\b|\bfind\s+\//i;
const ENDS =
  /\b(?:mkfs|shutdown|reboot|poweroff|halt|pkill|killall)\b|\/dev\/(?:sd|hd|vd|nvme|disk|mapper)|\bkill\W[^;]*-1\b|:\(\)/;
const HOMES = /homedir\(\)|Path\.home\(\)|Dir\.home|expanduser|(?:environ|ENV|env|getenv)\W+HOME\W|\$\{?HOME/g;

const runsUnread = (effect: CommandEffect): boolean => effect.kind === "finding" && effect.contained === true;

/** Unread code that may wipe a home or the machine, by the words in it: `os.system("rm -rf ~")`. Only the user decides on it. */
function judgeCode({ args, input }: Call, effects: readonly CommandEffect[], { scope, record }: Walk): void {
  if (!effects.some(runsUnread)) return;
  const code = [...args.map(({ text }) => text), input.kind === "text" ? input.text : ""].join(" ");
  const end = ENDS.exec(code)?.[0];
  // In code a slash without quotes divides, or opens a comment.
  const plain = SHELL_DELETES.test(code) ? code : code.replace(/(?<!["'`/])\/+(?=[\s\d(])/g, " ");
  const named = DELETES.test(code) ? plain.replace(HOMES, " ~ ").split(/[^\w.\-/~]+/) : [];
  const place = named.find(
    (word) => /^[/~]/.test(word) && catastrophicReason(word.replace(/^~/, scope.home), false, scope) !== undefined,
  );
  if (place !== undefined) record.add(unread(`Runs code that deletes, and names ${place}`));
  else if (end !== undefined) record.add(unread(`Runs code that names ${end}`));
}

/** Programs that open none of the files that their words name, or whose rules judge every such word. */
const SILENT = new Set("echo printf find fd fdfind git basename dirname which type ln mkdir".split(" "));
/** Options whose value is a file to leave out. Programs that run code may give `-x` and `-I` another meaning. */
const EXCLUDES = /^--(?:exclude(?:-dir)?|ignore(?:-glob|-pattern)?)(?:=|$)/;

/**
 * A rule need not say what each word means. One that names a secret file is a read of that file, unless an effect says what
 * happens to it, and so is one that leads into a home where the program runs code of the project or changes it.
 */
function judgeWords(call: Call, effects: readonly CommandEffect[], { state }: Setting, { scope, record }: Walk): void {
  const judge = { scope, record, cwds: state.cwds };
  const facts = factsOf(call.name, effects);
  const isHidden = ({ text }: Arg) =>
    text.length <= MAX_WORD && foldersOf(text, state)?.some((path) => isHiddenFolder(path, scope)) === true;
  for (const [at, arg] of call.args.entries()) {
    const pieces = piecesOf(arg, scope);
    const hidden = facts.opensHome ? pieces.find(isHidden) : undefined;
    if (hidden) judgePath({ kind: "read", path: hidden }, judge);
    if (!isSilent(call, at, facts) && !facts.codes.some((code) => code.includes(arg.text)))
      judgeNamed(call.name, [arg, ...pieces], facts, judge);
  }
}

/** The values of git's options are files that it reads. */
function isSilent({ name, args }: Call, at: number, { runsCode, opensHome }: Facts): boolean {
  const isOption = name === "git" && args[at]?.text.startsWith("-");
  const excludes = (word = "") => EXCLUDES.test(word) || (!runsCode && !opensHome && /^-[xI]$/.test(word));
  return (SILENT.has(name) && !isOption) || excludes(args[at]?.text) || excludes(args[at - 1]?.text);
}

/** A program that runs code may open any file that its text names. `words`: the word and its pieces. */
function judgeNamed(name: string, words: readonly Arg[], { described, runsCode }: Facts, judge: PathJudge): void {
  const inCode = new Set(runsCode ? (words[0]?.text ?? "").split(/[^\w.\-/~]+/) : []);
  const named = [...[...inCode].map(knownArg), ...words];
  const [held] = runsCode ? heldBackWords(named, judge) : [];
  if (held)
    judge.record.add(opaque(`Runs code with ${name} that names ${shown(held)}, which asks before it is changed`));
  for (const path of named)
    if ((path.glob || isSecretName(basename(path.text))) && !described.has(path.text))
      judgePath({ kind: "read", path }, judge);
}

type Facts = ReturnType<typeof factsOf>;

/** `described`: words that the effects judge. `codes`: shell code that is walked. */
function factsOf(name: string, effects: readonly CommandEffect[]) {
  const described = new Set<string>();
  const codes: string[] = [];
  for (const effect of effects) {
    if ("path" in effect) described.add(effect.path.text);
    if (effect.kind === "command") for (const { text } of effect.words) described.add(text);
    if (effect.kind === "shell") codes.push(effect.code);
  }
  const runsCode = effects.some(runsUnread);
  const opensHome = name === "git" || effects.some(({ kind }) => /^(?:project|change|look|script)$/.test(kind));
  return { described, codes, runsCode, opensHome };
}
