/** Programs that make, copy, move and link files. */
import { ask, block, CHANGE, type CommandEffect, opaque, type Program, reads, writes } from "../command-effect.ts";
import { type Arg, afterPrefix, isKnown, knownArg, shown, UNKNOWN } from "../shell/arg.ts";
import { type Grammar, has, type Options, readOptions, valuesOf } from "./options.ts";

const COPY: Grammar = {
  short: "abdfHiLlnPpRrsS:t:TuvxZc",
  long: [
    ..."archive attributes-only backup=? copy-contents debug force interactive dereference link no-clobber".split(" "),
    ..."no-dereference preserve=? no-preserve= parents recursive reflink=? remove-destination sparse= strip-trailing-slashes".split(
      " ",
    ),
    ..."symbolic-link suffix= target-directory= no-target-directory update=? verbose one-file-system context=? exchange".split(
      " ",
    ),
  ],
};

const MAKE_FOLDER: Grammar = { short: "m:pvZ", long: ["mode=", "parents", "verbose", "context=?"] };

const mkdir: Program = ({ args }) => writes(readOptions(args, MAKE_FOLDER).operands);

const touch: Program = ({ args }) => {
  const options = readOptions(args, {
    short: "acd:fhmr:t:",
    long: ["time=", "no-create", "date=", "no-dereference", "reference="],
  });
  return [...writes(options.operands), ...reads(valuesOf(options, "r", "reference"))];
};

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
  const whole = sources.filter(({ text }) => /(?:^|\/)\.{1,2}\/*$|\/\.\*?$/.test(text));
  if (!recursive || whole.length === 0) return [];
  return [ask(`Copies all that is in ${whole.map(shown).join(", ")}, hidden files too, over another folder`)];
}

const cp: Program = ({ args }) => {
  const options = readOptions(args, COPY);
  const { sources, targets } = destinations(options);
  const links = has(options, "l", "s", "link", "symbolic-link") ? writes(sources) : [];
  return [...reads(sources), ...writes(targets), ...links, ...overlays(options, sources), ...unclear("cp", options)];
};

const mv: Program = ({ args }) => {
  const options = readOptions(args, COPY);
  const { sources, targets } = destinations(options);
  const removed = sources.map((path): CommandEffect => ({ kind: "delete", path, recursive: true, moves: true }));
  const lost = targets[0]?.text === "/dev/null" ? sources.map((path) => deleted(path)) : [];
  return [...removed, ...lost, ...writes(targets), ...unclear("mv", options)];
};

function deleted(path: Arg): CommandEffect {
  return { kind: "delete", path, recursive: true };
}

/** A link hands on what it points at: making one is judged as writing to both ends. */
const ln: Program = ({ args }) => {
  const options = readOptions(args, {
    short: "bdfFiLnPrsS:t:Tvh",
    long: [
      ..."backup=? directory force interactive logical no-dereference physical relative symbolic suffix=".split(" "),
      ..."target-directory= no-target-directory verbose".split(" "),
    ],
  });
  const { sources, targets } = destinations(options);
  const ends = options.operands.length === 1 ? [knownArg(".")] : targets;
  const symbolic = has(options, "s", "symbolic");
  // A symbolic link's own text starts at the folder of the link, a hard link's here: both are looked at.
  const fromLink = symbolic ? sources.flatMap((source) => ends.slice(0, 1).map((end) => beside(end, source))) : [];
  return [...writes([...sources, ...fromLink, ...ends]), ...unclear("ln", options)];
};

function beside(link: Arg, target: Arg): Arg {
  if (target.text.startsWith("/") || !isKnown(target) || !isKnown(link)) return target;
  const folder = link.text.slice(0, link.text.lastIndexOf("/") + 1);
  return knownArg(`${folder}${target.text}`);
}

const install: Program = ({ args }) => {
  const options = readOptions(args, {
    short: "bcCdDg:m:o:pS:st:TvZ",
    long: [
      ..."backup=? compare directory group= mode= owner= preserve-timestamps strip strip-program= suffix=".split(" "),
      ..."target-directory= no-target-directory verbose".split(" "),
    ],
  });
  if (has(options, "d", "directory")) return writes(options.operands);
  const { sources, targets } = destinations(options);
  const strip = has(options, "strip-program") ? [opaque("Makes install run another program")] : [];
  const owner = has(options, "o", "owner", "g", "group") ? [ask("Installs files for another owner")] : [];
  return [...reads(sources), ...writes(targets), ...strip, ...owner, ...unclear("install", options)];
};

const truncate: Program = ({ args }) => {
  const options = readOptions(args, { short: "cos:r:", long: ["no-create", "io-blocks", "reference=", "size="] });
  return [...writes(options.operands), ...reads(valuesOf(options, "r", "reference"))];
};

const dd: Program = ({ args }) => {
  const value = (key: string) =>
    args.filter(({ text }) => text.startsWith(key)).map((arg) => afterPrefix(arg, key.length));
  const unclearArgs = args.filter((arg) => !isKnown(arg) && !/^(?:if|of|bs|count)=/.test(arg.text));
  return [
    ...reads(value("if=")),
    ...writes(value("of=")),
    ...unclearArgs.map((arg) => opaque(`Runs dd with ${shown(arg)}, which is not known before it runs`)),
  ];
};

const rsync: Program = ({ args }) => {
  const options = readOptions(args, {
    short: "vqcarRbudlLkKHpEAXogDtUNOJSnWxe:zyCF0PhiM:f:B:T:4686",
    long: [
      ..."verbose quiet checksum archive recursive relative backup backup-dir= suffix= update inplace append".split(
        " ",
      ),
      ..."links copy-links copy-unsafe-links safe-links hard-links perms executability chmod= acls xattrs owner group".split(
        " ",
      ),
      ..."devices specials times omit-dir-times super fake-super sparse preallocate dry-run whole-file existing".split(
        " ",
      ),
      ..."ignore-existing remove-source-files del delete delete-before delete-during delete-delay delete-after".split(
        " ",
      ),
      ..."delete-excluded force max-delete= max-size= min-size= partial partial-dir= delay-updates prune-empty-dirs".split(
        " ",
      ),
      ..."size-only temp-dir= compare-dest= copy-dest= link-dest= compress compress-level= filter= exclude=".split(" "),
      ..."exclude-from= include= include-from= files-from= from0 human-readable progress stats itemize-changes".split(
        " ",
      ),
      ..."log-file= bwlimit= rsh= rsync-path= one-file-system info= mkpath no-perms no-owner no-group no-times".split(
        " ",
      ),
    ],
  });
  const target = options.operands.at(-1);
  const sources = options.operands.slice(0, -1);
  const remote = options.operands.filter(({ text }) => /^[^/]*:|^rsync:/.test(text));
  const effects: CommandEffect[] = [...reads(sources)];
  if (target) effects.push({ kind: "write", path: target });
  for (const arg of remote) effects.push(ask(`Copies files to or from another machine (${shown(arg)})`));
  if (has(options, "e", "rsh", "rsync-path", "M")) effects.push(opaque("Makes rsync run another program"));
  if (has(options, "remove-source-files")) effects.push(...sources.map((path) => deleted(path)));
  const deletes = [...options.given.keys()].some((name) => name.startsWith("del"));
  if (deletes && target) effects.push(deleted(target));
  if (!has(options, "n", "dry-run")) {
    effects.push(ask(`Copies whole folders over ${target ? shown(target) : "another"}, whatever they hold`));
  }
  effects.push(...writes(valuesOf(options, "log-file", "backup-dir", "temp-dir", "T", "partial-dir")));
  return [...effects, ...unclear("rsync", options)];
};

function unclear(name: string, options: Options): readonly CommandEffect[] {
  const odd = options.strange.filter(({ text }) => text.startsWith("-"));
  return odd.map((arg) => ask(`Runs ${name} with ${shown(arg)}, an option that is not known here`));
}

const mknod: Program = ({ args }) =>
  args.some(({ text }) => text === "b" || text === "c" || text === "u")
    ? [block("Makes a raw device file")]
    : writes(args);

export const fileWriters: ReadonlyMap<string, Program> = new Map([
  ["mkdir", mkdir],
  ["md", mkdir],
  ["touch", touch],
  ["cp", cp],
  ["gcp", cp],
  ["mv", mv],
  ["ln", ln],
  ["link", ln],
  ["install", install],
  ["truncate", truncate],
  ["dd", dd],
  ["rsync", rsync],
  ["mkfifo", ({ args }) => writes(args.filter(({ text }) => !text.startsWith("-")))],
  ["mknod", mknod],
  ["mktemp", ({ args }) => [CHANGE, ...writes(args.filter(({ text }) => text.includes("XXX")))]],
]);
