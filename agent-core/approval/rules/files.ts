/** Rules for programs that make, copy, move, link, find and delete files, or change the rights to them. */
import {
  ask,
  askForCode,
  block,
  CHANGE,
  type CommandEffect,
  deletes,
  opaque,
  type Program,
  reads,
  writes,
} from "../command-effect.ts";
import { type Arg, afterPrefix, isKnown, knownArg, shown, TOKEN, UNKNOWN, UNKNOWN_ARG } from "../shell/arg.ts";
import { has, type Options, valuesOf } from "./options.ts";
import { programOf, type Rule, ruleTable } from "./rule.ts";

/** Sources and the files that they become: below the target folder when it is one, and the target itself. */
function destinations(options: Options): { readonly sources: readonly Arg[]; readonly targets: readonly Arg[] } {
  const folder = valuesOf(options, "t", "target-directory").at(-1);
  const sources = folder ? options.operands : options.operands.slice(0, -1);
  const target = folder ?? options.operands.at(-1);
  if (!target) return { sources, targets: [] };
  return { sources, targets: [target, ...sources.map((source) => inside(target, source))] };
}

export function inside(folder: Arg, file: Arg): Arg {
  const base = file.text.replace(/\/+$/, "");
  const name = base.slice(base.lastIndexOf("/") + 1);
  if (file.text.includes(UNKNOWN)) {
    const text = folder.text.includes(UNKNOWN) ? UNKNOWN : `${folder.text}/${name.includes(UNKNOWN) ? UNKNOWN : name}`;
    return { text, glob: false, splits: false };
  }
  const plain = name === "." || name === ".." || name === "" ? "" : `/${name}`;
  return { text: `${folder.text}${plain}`, glob: folder.glob || file.glob, splits: false };
}

export const below = (folder: Arg, path: Arg): Arg =>
  path.text.startsWith("/") ? path : { ...path, text: `${folder.text}/${path.text}` };

const isRecursive = (options: Options): boolean => has(options, "r", "R", "a", "recursive", "archive");

/** A folder's whole content, hidden files too, copied over another: it may bring any file. */
function overlays(options: Options, sources: readonly Arg[]): readonly CommandEffect[] {
  const isOver = has(options, "T", "no-target-directory");
  const whole = sources.filter(({ text }) => isOver || /(?:^|\/)\.{1,2}\/*$|\/\.\*?$/.test(text));
  if (!isRecursive(options) || whole.length === 0) return [];
  return [ask(`Copies everything in ${whole.map(shown).join(", ")}, hidden files too, over another folder`)];
}

/** A link gives access to its target: making one is judged as writing to both ends. */
const copy: Rule = {
  short: "abdfFHiLlnPpRrsS:t:TuvxZch",
  long: "archive attributes-only backup=? copy-contents debug directory force interactive dereference link logical no-clobber no-dereference physical preserve=? no-preserve= parents recursive reflink=? relative remove-destination sparse= strip-trailing-slashes symbolic symbolic-link suffix= target-directory= no-target-directory update=? verbose one-file-system context=? exchange",
  unlisted: ask("Runs {name} with {option}, an option that is not known"),
  effects: ({ name }, options) => {
    const { sources, targets } = destinations(options);
    if (name === "mv") return [...deletes(sources, true, targets[0]?.text !== "/dev/null"), ...writes(targets)];
    const isSymbolic = has(options, "s", "symbolic", "symbolic-link");
    // A symbolic link's text starts at the folder of the link, a hard link's in the current folder.
    const folder = knownArg(targets[0]?.text.replace(/[^/]*$/, "") || ".");
    const fromLink = isSymbolic ? sources.map((source) => below(folder, source)) : [];
    const isCopy = /cp$/.test(name);
    const links = isSymbolic || !isCopy || has(options, "l", "link");
    return [
      ...(links ? writes([...sources, ...fromLink]) : []),
      ...(isCopy ? reads(sources, isRecursive(options) ? "below" : undefined) : []),
      ...(isCopy ? overlays(options, sources) : []),
      ...writes(targets),
    ];
  },
};

const dd: Program = ({ args }) => {
  const value = (key: string) =>
    args.filter(({ text }) => text.startsWith(key)).map((arg) => afterPrefix(arg, key.length));
  const unknown = args.filter((arg) => !isKnown(arg) && !/^(?:if|of|bs|count)=/.test(arg.text));
  return [
    ...reads(value("if=")),
    ...writes(value("of=")),
    ...unknown.map((arg) => opaque(`Runs dd with ${shown(arg)}, which is not known before it runs`)),
  ];
};

const remove: Rule = {
  short: "dfiIPrRvWx",
  long: "force interactive=? one-file-system preserve-root=? recursive dir verbose",
  options: { "no-preserve-root": block("Deletes without the guard that protects the whole disk") },
  unlisted: [],
  effects: (_, options) => {
    const recursive = has(options, "r", "R", "recursive") || options.strange.length > 0;
    return deletes(options.operands, recursive);
  },
};

const OPEN_TO_ALL = /^0*[0-7]{0,3}[2367]$|(?:^|,)(?:[ugoa]*[oa][ugoa]*[+=][rxX]*w|[+=]w)/;
const SPECIAL_BITS = /^0*[2467][0-7]{3}$|[+=][rwxX]*[st]/;

const changeRights: Rule = {
  short: "cfvRhHLP",
  long: "changes silent quiet verbose dereference no-dereference from= reference= recursive preserve-root no-preserve-root",
  unlisted: [],
  /** `-w` takes a right away and is not an option. */
  operandLike: /^-[rwxXst]+$/,
  effects: ({ name }, options) => {
    const recursive = has(options, "R", "recursive") || options.strange.length > 0;
    const [first, ...rest] = options.operands;
    const mode = has(options, "reference") ? undefined : first;
    const paths = mode === undefined ? options.operands : rest;
    const changes = paths.map((path): CommandEffect => ({ kind: "permissions", path, recursive }));
    if (name !== "chmod") return [...changes, ask(`Changes the owner of ${paths.map(shown).join(", ")} (${name})`)];
    return mode ? [...changes, ...modeEffects(mode)] : changes;
  },
};

function modeEffects(mode: Arg): readonly CommandEffect[] {
  if (OPEN_TO_ALL.test(mode.text)) return [ask(`Lets every user of this machine write (mode ${shown(mode)})`)];
  if (SPECIAL_BITS.test(mode.text)) return [ask(`Lets a program run with its owner's rights (mode ${shown(mode)})`)];
  return /^[0-7]+$|^[ugoa]*[-+=]|^-[rwxXst]+$/.test(mode.text) ? [] : [ask(`Sets the mode ${shown(mode)}`)];
}

/** Tests that leave files out: without one an action reaches every file. */
const FILTERS =
  /^-(?:i?name|i?path|i?wholename|i?regex|i?lname|newer\w*|[acm](?:min|time)|size|empty|user|group|perm|links|inum|samefile)$/;
const FLAG =
  /^(?:[!(),]|-(?:a|and|o|or|not|true|false|print0?|ls|prune|quit|daystart|depth|d|x?dev|mount|noleaf|(?:no)?warn|empty|nouser|nogroup|readable|writable|executable|ignore_readdir_race|[HPXs]|O\d))$/;
const WITH_VALUE =
  /^-(?:i?name|i?path|i?wholename|i?regex|regextype|i?lname|x?type|size|user|group|[ug]id|perm|links|inum|[acm](?:time|min)|used|newer\w*|[ac]newer|samefile|(?:max|min)depth|fstype|printf|context|flags|D)$/;
const MAX_STARTS = 20;

/** A search reads names, but an action deletes, writes or runs a program for each file. Another option may be one. */
const find: Program = ({ args }) => {
  const isLeading = ({ text }: Arg): boolean => /^-(?:[HLPXsD]|O\d)$/.test(text);
  const end = args.findIndex((arg) => /^[-!(),]/.test(arg.text) && !isLeading(arg));
  const tests = end < 0 ? [] : args.slice(end);
  const named = args.slice(0, args.length - tests.length).filter((arg) => !isLeading(arg));
  const given = named.length > MAX_STARTS ? [UNKNOWN_ARG] : named;
  const starts = given.length === 0 ? [knownArg(".")] : given;
  const filtered = tests.some(({ text }, at) => FILTERS.test(text) && tests[at + 1]?.text !== "*");
  return [
    ...reads(starts, "names"),
    ...starts
      .filter(({ text }) => text.startsWith(UNKNOWN))
      .map((arg) => opaque(`Runs find with ${shown(arg)}, which may be an action`)),
    ...starts.flatMap((start) => actions(tests, start, filtered)),
  ];
};

function actions(tests: readonly Arg[], start: Arg, filtered: boolean): readonly CommandEffect[] {
  const below = start.text.replace(/\/+$/, "");
  const isSome = filtered || !isKnown(start);
  const each = isSome
    ? knownArg(`${below}/${UNKNOWN}${endOfNames(tests)}`)
    : { ...knownArg(`${below}/**`), glob: true };
  const effects: CommandEffect[] = [];
  for (let at = 0; at < tests.length; at += 1) {
    const word = tests[at]?.text ?? "";
    if (/^-(?:exec|ok)(?:dir)?$/.test(word)) {
      const words = tests.slice(at + 1, endOfCommand(tests, at + 1));
      at += words.length + 1;
      const filled = words.map((arg) =>
        arg.text === "{}" ? each : { ...arg, text: arg.text.replaceAll("{}", each.text) },
      );
      // `-execdir` runs in the folder of each file, which is not known.
      effects.push({ kind: "command", words: filled, ...(word.endsWith("dir") && { cwd: UNKNOWN_ARG }) });
    } else if (word === "-delete")
      effects.push(
        ...(filtered && isKnown(start) ? deletes([knownArg(`${below}/${TOKEN}`)], false) : deletes([start])),
      );
    else at += readTest(word, tests[at + 1], effects);
  }
  return effects;
}

function readTest(word: string, value: Arg | undefined, effects: CommandEffect[]): number {
  const isOutput = /^-f(?:print0?|ls|printf)$/.test(word);
  if (isOutput) effects.push(...writes(value ? [value] : []));
  else if (!WITH_VALUE.test(word) && !FLAG.test(word))
    // Its value may be a file that find reads.
    effects.push(ask(`Runs find with ${shown(word)}, an option that is not known`), ...reads(value ? [value] : []));
  if (word === "-fprintf") return 2;
  return isOutput || WITH_VALUE.test(word) ? 1 : 0;
}

function endOfCommand(tests: readonly Arg[], from: number): number {
  let at = from;
  const isEnd = (text: string | undefined) => text === ";" || (text === "+" && tests[at - 1]?.text === "{}");
  while (at < tests.length && !isEnd(tests[at]?.text)) at += 1;
  return at;
}

/** The end that all names have: `-name '*.ts'` is the only test of names. */
function endOfNames(tests: readonly Arg[]): string {
  const words = tests.map(({ text }) => text);
  const [at, ...others] = [...words.keys()].filter((each) => /^-i?name$/.test(words[each] ?? ""));
  const isOnly = others.length === 0 && !words.some((word) => /^(?:!|-not|,|-or?)$/.test(word));
  return (isOnly && at !== undefined && /^\*?([\w.-]+)$/.exec(words[at + 1] ?? "")?.[1]) || "";
}

/** fd: `-x` and `-X` run the rest of the line on each file. */
const fd: Program = ({ args }) => {
  const at = args.findIndex(({ text }) => /^-[a-zA-Z]*[xX\0]|^--exec|^(?:--[\w-]*)?\0/.test(text));
  if (at < 0) return reads(args.filter(({ text }) => !text.startsWith("-")));
  const words = args.slice(at + 1).map((word) => (/\{\/?\/?\.?\}/.test(word.text) ? UNKNOWN_ARG : word));
  const run: CommandEffect = { kind: "command", words: [...words, UNKNOWN_ARG] };
  return [askForCode(`Runs fd with ${shown(args[at] ?? "")}, which runs a program on each file`), run];
};

/** Listing reads, packing reads everything below its operands and writes one file, unpacking may write any. */
const tar: Rule = {
  short: "cxtzjJvf:C:pkOT:",
  long: "create extract get list file= directory= gzip bzip2 xz zstd verbose exclude= exclude-vcs exclude-from= strip-components= auto-compress to-stdout no-recursion files-from=",
  effects: (_, options) => {
    const archives = valuesOf(options, "f", "file");
    const remote = archives.filter(({ text }) => /^[^/]+:/.test(text));
    const lists = valuesOf(options, "T", "files-from");
    const asks = [...remote, ...lists].map((arg) => ask(`Reads or packs what ${shown(arg)} names`));
    const folders = valuesOf(options, "C", "directory");
    if (has(options, "x", "extract", "get") && !has(options, "O", "to-stdout"))
      return [
        ...asks,
        ...writes(folders.length > 0 ? folders : [knownArg(".")]),
        ask("Unpacks over the files that an archive names"),
      ];
    if (!has(options, "c", "create")) return [...asks, ...reads(archives)];
    const packed =
      folders.length === 0
        ? options.operands
        : options.operands.flatMap((arg) => folders.map((folder) => below(folder, arg)));
    const filter = { without: valuesOf(options, "exclude").map(({ text }) => text) };
    return [...asks, ...reads(packed, "below", filter), ...reads(folders), ...writes(archives)];
  },
};
const tarOf = programOf(tar);

/** gzip and its like replace the plain file by the packed one, with `-r` of everything below a folder. */
const compress: Rule = {
  short: "0123456789acdefhklnNqrstvVzLQS:M:T:",
  long: "stdout to-stdout decompress uncompress compress force help keep list no-name name quiet recursive suffix= test verbose best fast=? extreme threads= format= check= ultra long=? rm no-progress no-check single-thread adapt rsyncable small license version",
  options: { "o:": "write", "D:": "read" },
  effects: (_, options) => {
    const files = options.operands;
    const isWhole = has(options, "r", "recursive");
    if (has(options, "c", "l", "t", "stdout", "to-stdout", "list", "test") || files.length === 0)
      return reads(files, isWhole ? "below" : undefined);
    return [...writes(files), ...deletes(isWhole ? files : [])];
  },
};

export const filePrograms: ReadonlyMap<string, Program> = ruleTable({
  "mkdir md": { short: "m:pvZ", long: "mode= parents verbose context=?", operands: "write" },
  touch: {
    short: "acd:fhmt:",
    long: "time= no-create date= no-dereference",
    options: { "r: reference=": "read" },
    operands: "write",
  },
  "cp gcp mv ln link": copy,
  truncate: { short: "cos:", long: "no-create size=", options: { "r: reference=": "read" }, operands: "write" },
  tee: { short: "aip", long: "append ignore-interrupts output-error=?", operands: "write" },
  "dd dcfldd dc3dd": dd,
  mktemp: ({ args }) => [CHANGE, ...writes(args.filter(({ text }) => text.includes("XXX")))],
  "rm grm": remove,
  /** Deletes an empty folder only: nothing is lost. */
  rmdir: {
    open: true,
    effects: (_, { operands }) => deletes(operands, false, true),
  },
  unlink: ({ args }) => deletes(args, false),
  shred: { open: true, operands: "write", effects: (_, { operands }) => deletes(operands, false) },
  "srm wipe trash trash-put rimraf del-cli": { open: true, operands: "delete" },
  "chmod chown chgrp": changeRights,
  /** The first word of tar may be a cluster of letters without its dash. */
  "tar gtar bsdtar": ({ args: [first, ...rest], ...call }) =>
    tarOf({
      ...call,
      args: first ? [/^[A-Za-z]+$/.test(first.text) ? { ...first, text: `-${first.text}` } : first, ...rest] : [],
    }),
  zip: {
    short: "rqj0123456789yXx:i:u",
    options: { "@": reads([UNKNOWN_ARG]) },
    effects: (_, { operands: [file, ...more] }) => [...writes(file ? [file] : []), ...reads(more, "below")],
  },
  "gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd": compress,
  "find gfind": find,
  "fd fdfind": fd,
});
