/** Rules for programs that make, copy, move, link and delete files, or change the rights to them. */
import {
  ask,
  block,
  CHANGE,
  type CommandEffect,
  opaque,
  type Program,
  reads,
  readsBelow,
  writes,
} from "../command-effect.ts";
import { type Arg, afterPrefix, isKnown, knownArg, shown, UNKNOWN } from "../shell/arg.ts";
import { has, type Options, valuesOf } from "./options.ts";
import { type Rule, ruleTable } from "./rule.ts";

function deleted(path: Arg, recursive = true): CommandEffect {
  return { kind: "delete", path, recursive };
}

/** Sources and the files that they become: below the target folder when it is one, and the target itself. */
function destinations(options: Options): { readonly sources: readonly Arg[]; readonly targets: readonly Arg[] } {
  const folder = valuesOf(options, "t", "target-directory").at(-1);
  const sources = folder ? options.operands : options.operands.slice(0, -1);
  const target = folder ?? options.operands.at(-1);
  if (!target) return { sources, targets: [] };
  return { sources, targets: [target, ...sources.map((source) => inside(target, source))] };
}

function inside(folder: Arg, file: Arg): Arg {
  const base = file.text.replace(/\/+$/, "");
  const name = base.slice(base.lastIndexOf("/") + 1);
  if (file.text.includes(UNKNOWN)) {
    const text = folder.text.includes(UNKNOWN) ? UNKNOWN : `${folder.text}/${name.includes(UNKNOWN) ? UNKNOWN : name}`;
    return { text, glob: false, splits: false };
  }
  const plain = name === "." || name === ".." || name === "" ? "" : `/${name}`;
  return { text: `${folder.text}${plain}`, glob: folder.glob || file.glob, splits: false };
}

/** A folder's whole content, hidden files too, copied over another: it may bring any file. */
function overlays(options: Options, sources: readonly Arg[]): readonly CommandEffect[] {
  const recursive = has(options, "r", "R", "a", "recursive", "archive");
  const isOver = has(options, "T", "no-target-directory");
  const whole = sources.filter(({ text }) => isOver || /(?:^|\/)\.{1,2}\/*$|\/\.\*?$/.test(text));
  if (!recursive || whole.length === 0) return [];
  return [ask(`Copies everything in ${whole.map(shown).join(", ")}, hidden files too, over another folder`)];
}

/** Asks about options outside of the grammar; an unknown operand is judged as a path. */
function asksUnlisted(name: string, { strange }: Options): readonly CommandEffect[] {
  return strange
    .filter(({ text }) => text.startsWith("-"))
    .map((arg) => ask(`Runs ${name} with ${shown(arg)}, an option that is not known`));
}

const COPY = {
  short: "abdfHiLlnPpRrsS:t:TuvxZc",
  long: [
    "archive attributes-only backup=? copy-contents debug force interactive dereference link no-clobber",
    "no-dereference preserve=? no-preserve= parents recursive reflink=? remove-destination sparse= strip-trailing-slashes",
    "symbolic-link suffix= target-directory= no-target-directory update=? verbose one-file-system context=? exchange",
  ].join(" "),
  closed: true,
} satisfies Rule;

const copy: Rule = {
  ...COPY,
  effects: (_, options) => {
    const { sources, targets } = destinations(options);
    const links = has(options, "l", "s", "link", "symbolic-link") ? writes(sources) : [];
    const copied = has(options, "r", "R", "a", "recursive", "archive") ? readsBelow(sources) : reads(sources);
    const effects = [...copied, ...writes(targets), ...links, ...overlays(options, sources)];
    return [...effects, ...asksUnlisted("cp", options)];
  },
};

const move: Rule = {
  ...COPY,
  effects: (_, options) => {
    const { sources, targets } = destinations(options);
    const removed = sources.map((path): CommandEffect => ({ kind: "delete", path, recursive: true, moves: true }));
    const lost = targets[0]?.text === "/dev/null" ? sources.map((path) => deleted(path)) : [];
    return [...removed, ...lost, ...writes(targets), ...asksUnlisted("mv", options)];
  },
};

/** A link gives access to its target: making one is judged as writing to both ends. */
const link: Rule = {
  short: "bdfFiLnPrsS:t:Tvh",
  long: "backup=? directory force interactive logical no-dereference physical relative symbolic suffix= target-directory= no-target-directory verbose",
  closed: true,
  effects: (_, options) => {
    const { sources, targets } = destinations(options);
    const isHere = options.operands.length === 1 && !has(options, "t", "target-directory");
    const ends = isHere ? [knownArg(".")] : targets;
    // A symbolic link's text starts at the folder of the link, a hard link's in the current folder.
    const fromLink = has(options, "s", "symbolic")
      ? sources.flatMap((source) => ends.slice(0, 1).map((end) => fromFolderOf(end, source)))
      : [];
    return [...writes([...sources, ...fromLink, ...ends]), ...asksUnlisted("ln", options)];
  },
};

function fromFolderOf(link: Arg, target: Arg): Arg {
  if (target.text.startsWith("/") || !isKnown(target) || !isKnown(link)) return target;
  const folder = link.text.slice(0, link.text.lastIndexOf("/") + 1);
  return knownArg(`${folder}${target.text}`);
}

const install: Rule = {
  short: "bcCdDg:m:o:pS:st:TvZ",
  long: "backup=? compare directory group= mode= owner= preserve-timestamps strip strip-program= suffix= target-directory= no-target-directory verbose",
  closed: true,
  effects: (_, options) => {
    if (has(options, "d", "directory")) return writes(options.operands);
    const { sources, targets } = destinations(options);
    const strip = has(options, "strip-program") ? [opaque("Makes install run another program")] : [];
    const owner = has(options, "o", "owner", "g", "group") ? [ask("Installs files for another owner")] : [];
    return [...reads(sources), ...writes(targets), ...strip, ...owner, ...asksUnlisted("install", options)];
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

const rsync: Program = ({ args }) => {
  const operands = args.filter(({ text }) => !text.startsWith("-"));
  const target = operands.at(-1);
  const sources = operands.slice(0, -1);
  const runs = args.find((arg) => !isKnown(arg) || /^-\w*[eM]|^--(?:rsh|rsync-path|remote-option)/.test(arg.text));
  const remote = operands.some(({ text }) => /^[^/]*:|^rsync:/.test(text));
  const dry = args.some(({ text }) => /^-\w*n|^--dry-run$/.test(text));
  const place = target ? shown(target) : "another folder";
  return [
    ...readsBelow(sources),
    ...writes(target ? [target] : []),
    ...args
      .filter(({ text }) => /^--(?:log-file|backup-dir|temp-dir|partial-dir)=/.test(text))
      .map((arg): CommandEffect => ({ kind: "write", path: afterPrefix(arg, arg.text.indexOf("=") + 1) })),
    ...(runs ? [opaque(`Makes rsync run another program (${shown(runs)})`)] : []),
    ...(dry && !remote
      ? []
      : [ask(`Copies whole folders${remote ? " to or from another machine" : ` over ${place}`}`)]),
    ...(args.some(({ text }) => text === "--remove-source-files") ? sources.map((path) => deleted(path)) : []),
    ...(target && args.some(({ text }) => text.startsWith("--del")) ? [deleted(target)] : []),
  ];
};

const makesDevice: Program = ({ args }) =>
  args.some(({ text }) => text === "b" || text === "c" || text === "u")
    ? [block("Makes a raw device file")]
    : writes(args);

export const fileWriters: ReadonlyMap<string, Program> = ruleTable({
  "mkdir md": { short: "m:pvZ", long: "mode= parents verbose context=?", operands: "write" },
  touch: {
    short: "acd:fhmt:",
    long: "time= no-create date= no-dereference",
    options: { "r: reference=": "read" },
    operands: "write",
  },
  "cp gcp": copy,
  mv: move,
  "ln link": link,
  install,
  truncate: {
    short: "cos:",
    long: "no-create io-blocks size=",
    options: { "r: reference=": "read" },
    operands: "write",
  },
  dd,
  rsync,
  mkfifo: { operands: "write" },
  mknod: makesDevice,
  mktemp: ({ args }) => [CHANGE, ...writes(args.filter(({ text }) => text.includes("XXX")))],
});

const remove: Rule = {
  short: "dfiIPrRvWx",
  long: "force interactive=? one-file-system preserve-root=? recursive dir verbose",
  options: { "no-preserve-root": block("Deletes without the guard that protects the whole disk") },
  closed: true,
  effects: (_, options) => {
    const recursive = has(options, "r", "R", "recursive") || options.strange.length > 0;
    return options.operands.map((path) => deleted(path, recursive));
  },
};

/** Deletes an empty folder only: nothing is lost. */
const removeFolder: Rule = {
  effects: (_, { operands }) =>
    operands.map((path): CommandEffect => ({ kind: "delete", path, recursive: false, moves: true })),
};

const shred: Rule = {
  effects: (_, { operands }) => operands.flatMap((path) => [...writes([path]), deleted(path, false)]),
};

const OPEN_TO_ALL = /^0?[0-7]?[0-7][0-7][2367]$|^[ugoa]*[oa][ugoa]*[+=][rxX]*w|^[+=]w/;
const SPECIAL_BITS = /^0?[2467][0-7]{3}$|[+=][rwxX]*[st]/;

/** Options of chmod, chown and chgrp. */
const RIGHTS = {
  short: "cfvRhHLP",
  long: "changes silent quiet verbose dereference no-dereference from= reference= recursive preserve-root no-preserve-root",
  closed: true,
} satisfies Rule;

function changesRights(paths: readonly Arg[], options: Options): readonly CommandEffect[] {
  const recursive = has(options, "R", "recursive") || options.strange.length > 0;
  return paths.map((path) => ({ kind: "permissions", path, recursive }));
}

const changeMode: Rule = {
  ...RIGHTS,
  /** `-w` takes a right away and is not an option. */
  operandLike: /^-[rwxXst]+$/,
  effects: (_, options) => {
    const [mode, ...paths] = has(options, "reference") ? [undefined, ...options.operands] : options.operands;
    const known = paths.filter((path) => path !== undefined);
    return [...changesRights(known, options), ...modeEffects(mode)];
  },
};

function modeEffects(mode: Arg | undefined): readonly CommandEffect[] {
  if (!mode) return [];
  if (OPEN_TO_ALL.test(mode.text)) return [ask(`Lets every user of this machine write (mode ${shown(mode)})`)];
  if (SPECIAL_BITS.test(mode.text)) return [ask(`Lets a program run with its owner's rights (mode ${shown(mode)})`)];
  return /^[0-7]+$|^[ugoa]*[-+=]|^-[rwxXst]+$/.test(mode.text) ? [] : [ask(`Sets the mode ${shown(mode)}`)];
}

const changeOwner: Rule = {
  ...RIGHTS,
  effects: ({ name }, options) => {
    const paths = has(options, "reference") ? options.operands : options.operands.slice(1);
    const what = name === "chgrp" ? "group" : "owner";
    return [...changesRights(paths, options), ask(`Changes the ${what} of ${paths.map(shown).join(", ")}`)];
  },
};

const attributes: Program = ({ name, args }) => {
  const recursive = args.some(({ text }) => /^-\w*R/.test(text));
  const paths = args.filter(({ text }) => text.includes("/") || /^[\w.~]/.test(text));
  const changes = paths.map((path): CommandEffect => ({ kind: "permissions", path, recursive }));
  return [...changes, ask(`Changes file attributes with ${name}`), CHANGE];
};

export const fileRemovers: ReadonlyMap<string, Program> = ruleTable({
  "rm grm": remove,
  rmdir: removeFolder,
  unlink: ({ args }) => args.map((path) => deleted(path, false)),
  shred,
  "srm wipe trash trash-put rimraf del-cli": { operands: "delete" },
  chmod: changeMode,
  "chown chgrp": changeOwner,
  "chattr setfacl xattr": attributes,
});
