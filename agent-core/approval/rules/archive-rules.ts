/** Rules for archives: listing reads, packing writes one file, unpacking may write any. */
import { ask, type CommandEffect, opaque, type Program, reads, readsBelow, writes } from "../command-effect.ts";
import { type Arg, isKnown, knownArg, shown } from "../shell/arg.ts";
import { has, type Options, valuesOf } from "./options.ts";
import { programOf, type Rule, ruleTable } from "./rule.ts";

const COMPRESSORS = /^(?:gzip|pigz|bzip2|pbzip2|xz|zstd|lz4|lzma|pxz|zstdmt)(?: -[\w-]+)*$/;

/** Options of tar that run a program. */
const RUNNERS =
  "I F use-compress-program to-command checkpoint-action info-script new-volume-script rsh-command rmt-command".split(
    " ",
  );

const TAR: Rule = {
  short: "cxtruAdf:C:zjJZavpkmoPOSwWhlnBiGUT:X:I:F:b:g:H:K:L:M:N:V:s",
  long: [
    "create extract get list append update concatenate catenate diff compare delete file= directory= gzip bzip2 xz",
    "zstd lzma auto-compress verbose exclude= exclude-from= exclude-vcs files-from= strip-components= transform= xform=",
    "use-compress-program= to-command= checkpoint=? checkpoint-action= info-script= new-volume-script= rsh-command=",
    "rmt-command= preserve-permissions same-owner no-same-owner overwrite keep-old-files to-stdout absolute-names",
    "owner= group= mode= mtime= sort= numeric-owner null wildcards no-recursion anchored one-file-system totals",
    "remove-files dereference format= show-transformed-names skip-old-files unlink-first recursive-unlink touch",
  ].join(" "),
  unlisted: ask("Runs tar with {option}, an option that is not known"),
  effects: (_, options) => {
    const archives = valuesOf(options, "f", "file");
    const effects = tarRunners(options);
    if (archives.some(({ text }) => /^[^/]+:/.test(text)))
      effects.push(ask("Reads or writes an archive on another machine"));
    if (has(options, "remove-files")) effects.push(...options.operands.map(deleted));
    if (has(options, "x", "extract", "get") && !has(options, "O", "to-stdout")) {
      const folder = valuesOf(options, "C", "directory").at(-1) ?? knownArg(".");
      return [...effects, ...reads(archives), ...unpacks(folder, archives[0])];
    }
    if (has(options, "t", "list", "d", "diff", "compare")) return [...effects, ...reads(archives)];
    if (has(options, "T", "files-from")) effects.push(ask("Packs the files that a list names"));
    const folders = valuesOf(options, "C", "directory");
    const packed =
      folders.length === 0
        ? options.operands
        : options.operands.flatMap((arg) => folders.map((folder) => below(folder, arg)));
    const filter = { without: valuesOf(options, "exclude").map(({ text }) => text) };
    return [...effects, ...readsBelow(packed, filter), ...reads(folders), ...writes(archives)];
  },
};

function below(folder: Arg, path: Arg): Arg {
  return path.text.startsWith("/") ? path : { ...path, text: `${folder.text}/${path.text}` };
}

function tarRunners(options: Options): CommandEffect[] {
  const effects: CommandEffect[] = [];
  for (const runner of valuesOf(options, ...RUNNERS)) {
    if (COMPRESSORS.test(runner.text)) continue;
    const code = isKnown(runner) ? runner.text.replace(/^exec=/, "") : "";
    effects.push(opaque(`Makes tar run another program (${shown(runner)})`), {
      kind: "shell",
      code,
      escalateOnly: true,
    });
  }
  if (has(options, "checkpoint-action")) effects.push(opaque("Makes tar run an action at each checkpoint"));
  return effects;
}

/** The first word of tar may be a cluster of letters without its dash. */
const tar: Program = (call) => {
  const [first, ...rest] = call.args;
  const isBundle = first && /^[A-Za-z]+$/.test(first.text);
  return tarOf(isBundle ? { ...call, args: [{ ...first, text: `-${first.text}` }, ...rest] } : call);
};
const tarOf = programOf(TAR);

function deleted(path: Arg): CommandEffect {
  return { kind: "delete", path, recursive: true };
}

function unpacks(folder: Arg, archive: Arg | undefined): readonly CommandEffect[] {
  const what = archive ? shown(archive) : "an archive";
  return [...writes([folder]), ask(`Unpacks ${what} into ${shown(folder)}, over the files that it names`)];
}

/** gzip and its like replace the plain file by the packed one. */
const compress: Rule = {
  short: "0123456789cdfhklLnNqrS:tvVT:zo:m",
  long: "output= keep force quiet verbose name no-name recursive rsyncable suffix= synchronous fast best threads= ultra long=? rm stdout to-stdout test list decompress uncompress",
  options: { "o: output=": "write" },
  effects: ({ name, args }, options) => {
    const files = options.operands;
    const prints =
      args.some(({ text }) => /^-\w*[ctlo]|^--(?:stdout|test|list|output)/.test(text)) || files.length === 0;
    if (prints) return reads(files);
    if (has(options, "r", "recursive")) {
      const replaced = files.map((path): CommandEffect => ({ kind: "delete", path, recursive: true, moves: true }));
      return [ask(`Packs or unpacks every file below ${files.map(shown).join(", ")}`), ...replaced];
    }
    const unpacking = /^g?un/.test(name) || has(options, "d", "decompress", "uncompress");
    const bare = (arg: Arg) => ({ ...arg, text: unpacking ? arg.text.replace(/\.\w+$/, "") : arg.text });
    return [...writes(files), ...writes(files.map(bare))];
  },
};

/** Packs, unpacks or lists with words of its own; any of them may be the file that is written. */
const packer: Program = ({ name, args }) => {
  const [first] = args;
  const files = args.filter(({ text }) => !text.startsWith("-"));
  if (name === "zipinfo" || LISTING[name]?.test(first?.text ?? "")) return reads(files);
  const runs = args.find(({ text }) => /^-T|^--(?:test|unzip-command|plugin)/.test(text));
  const removes = name === "zip" && args.some(({ text }) => /^-\w*m|^--move/.test(text));
  const line = args.slice(0, 4).map(shown).join(" ");
  const isNew = name === "zip" || name === "ar";
  return [
    ...(isNew ? [] : [ask(`Packs or unpacks files with ${name} (${line}), over the files that they name`)]),
    ...(runs ? [opaque(`Makes ${name} run another program (${shown(runs)})`)] : []),
    ...(name === "unzip" ? reads(files.slice(0, 1)) : readsBelow(files)),
    ...writes(files.slice(name === "unzip" ? 1 : 0)),
    ...(removes ? files.slice(1).map(deleted) : []),
  ];
};

/** First words that only list or print. */
const LISTING: Readonly<Record<string, RegExp>> = {
  unzip: /^-(?:l|v|t|z|p|c|Z)/,
  jar: /^-?t/,
  ar: /^-?[tp]/,
  "7z": /^(?:l|t|i)$/,
  unrar: /^(?:l|t|lb|lt|v|vb|vt)$/,
};

export const archives: ReadonlyMap<string, Program> = ruleTable({
  "tar gtar bsdtar": tar,
  "gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 lzma pigz compress": compress,
  "zip unzip zipinfo jar 7z 7za 7zz unrar rar cpio pax ar": packer,
});
