/** Rules for find and fd: a search reads, but an action deletes, writes or runs a program for each file. */
import {
  ask,
  CHANGE,
  type CommandEffect,
  opaque,
  type Program,
  reads,
  readsFollowing,
  readsNames,
  writes,
} from "../command-effect.ts";
import { type Arg, isKnown, knownArg, shown, TOKEN, UNKNOWN, UNKNOWN_ARG } from "../shell/arg.ts";

const RUNNERS = new Set(["-exec", "-execdir", "-ok", "-okdir"]);
const WRITERS = new Set(["-fprint", "-fprint0", "-fls"]);
/** Tests that exclude files: without one an action reaches every file. */
const FILTERS =
  /^-(?:i?name|i?path|i?wholename|i?regex|i?lname|newer\w*|[acm](?:min|time)|size|empty|user|group|perm|links|inum|samefile)$/;
const FLAGS = new Set(
  [
    "-a -and -o -or -not ! ( ) , -true -false -print -print0 -ls -prune -quit -daystart -depth -d -follow -mount -xdev",
    "-noleaf -warn -nowarn -empty -nouser -nogroup -readable -writable -executable -noignore_readdir_race -X -s -x -E",
  ].flatMap((line) => line.split(" ")),
);
const WITH_VALUE = new Set(
  [
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -lname -ilname -type -xtype -size -user",
    "-group -uid -gid -perm -links -inum -mtime -atime -ctime -mmin -amin -cmin -newer -anewer -cnewer -samefile -used",
    "-maxdepth -mindepth -fstype -printf -context -flags -newermt -newerat -newerct -newermm",
  ].flatMap((line) => line.split(" ")),
);

/** More start folders than this count as unknown. */
const MAX_STARTS = 20;

/** Options with which find and fd go through links. */
const FOLLOWS = /^-(?:[HPEXdsx]*L[HPEXdsx]*|follow)$|^--follow$/;

type Search = {
  starts: Arg[];
  filtered: boolean;
  effects: CommandEffect[];
  deletes: boolean;
  runs: { readonly words: readonly Arg[]; readonly cwd?: Arg }[];
};

const find: Program = ({ args }) => {
  const search: Search = { starts: [], filtered: false, effects: [], deletes: false, runs: [] };
  let at = readStarts(args, search);
  while (at < args.length) at = readAction(args, at, search);
  if (search.starts.length === 0) search.starts.push(knownArg("."));
  if (search.starts.length > MAX_STARTS) search.starts.splice(0, search.starts.length, UNKNOWN_ARG);
  const { starts, filtered, effects, deletes, runs } = search;
  const names = filtered ? namesFound(args) : undefined;
  const found = starts.flatMap((start) => (names ?? [undefined]).map((name) => match(start, filtered, name)));
  const gone = deletes ? starts.map((start) => deleted(start, filtered)) : [];
  return [
    ...(args.some(({ text }) => FOLLOWS.test(text)) ? readsFollowing(starts) : readsNames(starts)),
    ...effects,
    ...gone,
    ...runs.flatMap(({ words, ...rest }) =>
      found.map((path): CommandEffect => ({ kind: "command", words: filled(words, path), ...rest })),
    ),
  ];
};

function readStarts(args: readonly Arg[], search: Search): number {
  let at = 0;
  while (/^-(?:[HLPEXdsx]+|O\d|D)$/.test(args[at]?.text ?? "")) at += args[at]?.text === "-D" ? 2 : 1;
  for (; at < args.length; at += 1) {
    const arg = args[at] ?? UNKNOWN_ARG;
    if (arg.text.startsWith("-") || /^[!(),]$/.test(arg.text)) break;
    if (arg.text.startsWith(UNKNOWN))
      search.effects.push(opaque(`Runs find with ${shown(arg)}, which may be an action`));
    search.starts.push(arg);
  }
  return at;
}

/** Reads one word of the expression with its values; gives the position after it. */
function readAction(args: readonly Arg[], at: number, search: Search): number {
  const arg = args[at] ?? UNKNOWN_ARG;
  const word = arg.text;
  if (FILTERS.test(word) && args[at + 1]?.text !== "*") search.filtered = true;
  if (RUNNERS.has(word)) return readCommand(args, at, search);
  if (word === "-files0-from") {
    search.effects.push(...reads(args.slice(at + 1, at + 2)), ask("Runs find on the folders that a file names"));
    return at + 2;
  }
  if (word === "-delete") search.deletes = true;
  else if (WRITERS.has(word) || word === "-fprintf") {
    search.effects.push(...writes(args.slice(at + 1, at + 2)));
    return at + (word === "-fprintf" ? 3 : 2);
  } else if (WITH_VALUE.has(word)) return at + 2;
  else if (!FLAGS.has(word)) search.effects.push(ask(`Runs find with ${shown(arg)}, an option that is not known`));
  return at + 1;
}

function readCommand(args: readonly Arg[], at: number, search: Search): number {
  let stop = at + 1;
  while (stop < args.length && !endsCommand(args, stop)) stop += 1;
  // `-execdir` runs in the folder of each file, which is not known.
  const cwd = /dir$/.test(args[at]?.text ?? "") ? { cwd: UNKNOWN_ARG } : {};
  search.runs.push({ words: args.slice(at + 1, stop), ...cwd });
  return stop + 1;
}

function endsCommand(args: readonly Arg[], at: number): boolean {
  const text = args[at]?.text;
  return text === ";" || (text === "+" && args[at - 1]?.text === "{}");
}

/** Argument of an action: every file below the start, or some file when a test excludes others. */
function match(start: Arg, filtered: boolean, name: string | undefined): Arg {
  const folder = start.text.replace(/\/+$/, "");
  if (name !== undefined && isKnown(start)) return { text: `${folder}/${name}`, glob: false, splits: false };
  if (filtered || !isKnown(start)) return { text: `${folder}/${UNKNOWN}`, glob: false, splits: false };
  return { text: `${folder}/**`, glob: true, splits: false };
}

/** Every branch of an expression needs a name of its own. */
const BRANCH = /^(?:-o|-or|,)$/;
const MAX_NAMES = 10;

/**
 * Names that all found files have, with an unknown start: `-name '*.ts'`. Undefined when a branch of the expression has
 * none, or it is negated.
 */
function namesFound(args: readonly Arg[]): readonly string[] | undefined {
  const names: (string | undefined)[] = [undefined];
  for (const [at, { text }] of args.entries()) {
    if (RUNNERS.has(text)) break;
    if (BRANCH.test(text)) names.push(undefined);
    if (!/^-i?name$/.test(text) || /^(?:!|-not)$/.test(args[at - 1]?.text ?? "")) continue;
    const ending = /^\*?([\w.-]+)$/.exec(args[at + 1]?.text ?? "")?.[1];
    if (ending !== undefined) names[names.length - 1] = `${UNKNOWN}${ending}`;
  }
  const isNegated = args.some(({ text }, at) => /^(?:!|-not)$/.test(text) && args[at + 1]?.text === "(");
  const known = names.filter((name) => name !== undefined);
  return isNegated || known.length < names.length || known.length > MAX_NAMES ? undefined : known;
}

function deleted(start: Arg, filtered: boolean): CommandEffect {
  if (!filtered || !isKnown(start)) return { kind: "delete", path: start, recursive: true };
  const path = { text: `${start.text.replace(/\/+$/, "")}/${TOKEN}`, glob: false, splits: false };
  return { kind: "delete", path, recursive: false };
}

function filled(words: readonly Arg[], path: Arg): readonly Arg[] {
  return words.map((word) => {
    if (word.text === "{}") return path;
    return word.text.includes("{}") ? { ...word, text: word.text.replaceAll("{}", path.text) } : word;
  });
}

/** fd: `-x` and `-X` run the rest of the line. */
const fd: Program = ({ args }) => {
  // The other letters of a bundle have no value of their own: `-tx` is a type.
  const at = args.findIndex(({ text }) => /^(?:-[abghHiIlLpPsuU01]*[xX]|--exec|--exec-batch)$/.test(text));
  const before = at < 0 ? args : args.slice(0, at);
  const attached = args.filter(({ text }) => /^(?:-[a-zA-Z]*[xX].|--exec(?:-batch)?=)/.test(text));
  const unknown = before.filter(({ text }) => text.startsWith(UNKNOWN));
  const words = at < 0 ? [] : args.slice(at + 1);
  const path = UNKNOWN_ARG;
  const named = words.some(({ text }) => /\{\/?\/?\.?\}/.test(text));
  const filledWords = words.map((word) => (/\{\/?\/?\.?\}/.test(word.text) ? path : word));
  return [
    ...reads(before.filter(({ text }) => !text.startsWith("-"))),
    ...[...attached, ...unknown].map((arg) => opaque(`Runs fd with ${shown(arg)}, which may run a program`)),
    ...(words.length > 0 ? [CHANGE, { kind: "command", words: named ? filledWords : [...words, path] } as const] : []),
  ];
};

export const finders: ReadonlyMap<string, Program> = new Map([
  ["find", find],
  ["gfind", find],
  ["fd", fd],
  ["fdfind", fd],
]);
