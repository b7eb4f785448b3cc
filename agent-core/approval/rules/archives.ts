/** Archives: listing reads, packing writes one file, unpacking may write any. */
import { ask, type CommandEffect, opaque, type Program, reads, writes } from "../command-effect.ts";
import { type Arg, isKnown, knownArg, shown } from "../shell/arg.ts";
import { type Grammar, has, readOptions, valuesOf } from "./options.ts";

const TAR: Grammar = {
  short: "cxtruAdf:C:zjJZavpkmoPOSwWhlnBiGUT:X:I:F:b:g:H:K:L:M:N:V:sz",
  long: [
    ..."create extract get list append update concatenate catenate diff compare delete file= directory= gzip bzip2 xz".split(
      " ",
    ),
    ..."zstd lzma auto-compress verbose exclude= exclude-from= exclude-vcs files-from= strip-components= transform= xform=".split(
      " ",
    ),
    ..."use-compress-program= to-command= checkpoint=? checkpoint-action= info-script= new-volume-script= rsh-command=".split(
      " ",
    ),
    ..."rmt-command= preserve-permissions same-owner no-same-owner overwrite keep-old-files to-stdout absolute-names".split(
      " ",
    ),
    ..."owner= group= mode= mtime= sort= numeric-owner null wildcards no-recursion anchored one-file-system totals".split(
      " ",
    ),
    ..."remove-files dereference format= show-transformed-names skip-old-files unlink-first recursive-unlink touch".split(
      " ",
    ),
  ],
};
const TAR_RUNNERS = [
  "I",
  "F",
  "use-compress-program",
  "to-command",
  "checkpoint-action",
  "info-script",
  "new-volume-script",
  "rsh-command",
  "rmt-command",
];
const COMPRESSORS = /^(?:gzip|pigz|bzip2|pbzip2|xz|zstd|lz4|lzma|pxz|zstdmt)(?: -[\w-]+)*$/;

const tar: Program = ({ args }) => {
  const [first, ...rest] = args;
  const bundled = first && /^[A-Za-z]+$/.test(first.text) ? [{ ...first, text: `-${first.text}` }, ...rest] : args;
  const options = readOptions(bundled, TAR);
  const archives = valuesOf(options, "f", "file");
  const folders = valuesOf(options, "C", "directory");
  const effects: CommandEffect[] = [];
  const runners = valuesOf(options, ...TAR_RUNNERS).filter(({ text }) => !COMPRESSORS.test(text));
  for (const runner of runners) effects.push(opaque(`Makes tar run another program (${shown(runner)})`), raise(runner));
  if (has(options, "checkpoint-action")) effects.push(opaque("Makes tar run an action on the way"));
  for (const arg of options.strange) effects.push(ask(`Runs tar with ${shown(arg)}, an option that is not known here`));
  if (archives.some(({ text }) => /^[^/]+:/.test(text)))
    effects.push(ask("Reads or writes an archive on another machine"));
  if (has(options, "remove-files")) effects.push(...options.operands.map(gone));
  if (has(options, "x", "extract", "get") && !has(options, "O", "to-stdout")) {
    return [...effects, ...reads(archives), ...unpacks(folders.at(-1) ?? knownArg("."), archives[0])];
  }
  if (has(options, "t", "list", "d", "diff", "compare")) return [...effects, ...reads(archives)];
  return [...effects, ...reads(options.operands), ...writes(archives)];
};

function raise(runner: Arg): CommandEffect {
  return { kind: "shell", code: isKnown(runner) ? runner.text.replace(/^exec=/, "") : "", raises: true };
}

function gone(path: Arg): CommandEffect {
  return { kind: "delete", path, recursive: true };
}

function unpacks(folder: Arg, archive: Arg | undefined): readonly CommandEffect[] {
  const what = archive ? shown(archive) : "an archive";
  return [...writes([folder]), ask(`Unpacks ${what} into ${shown(folder)}, over whatever files it names`)];
}

const unzip: Program = ({ args }) => {
  const options = readOptions(args, { short: "lvtzpcZfuxd:nojaLqP:CKVXW:DT", long: [] });
  const [archive] = options.operands;
  if (has(options, "l", "v", "t", "z", "p", "c", "Z")) return reads(archive ? [archive] : []);
  return [...reads(archive ? [archive] : []), ...unpacks(valuesOf(options, "d").at(-1) ?? knownArg("."), archive)];
};

const zip: Program = ({ args }) => {
  const runs = args.some(({ text }) => /^-\w*T|^--(?:unzip-command|test)/.test(text));
  const moves = args.some(({ text }) => /^-\w*m|^--move/.test(text));
  const files = args.filter(({ text }) => !text.startsWith("-"));
  return [
    ...writes(files.slice(0, 1)),
    ...reads(files.slice(1)),
    ...(moves ? files.slice(1).map(gone) : []),
    ...(runs ? [opaque("Makes zip run another program")] : []),
  ];
};

/** gzip and its like put the packed file in the place of the plain one. */
const compress: Program = ({ name, args }) => {
  const files = args.filter(({ text }) => !text.startsWith("-"));
  const prints = args.some(({ text }) => /^-\w*[ctl]|^--(?:stdout|test|list)/.test(text)) || files.length === 0;
  if (prints) return reads(files);
  const unpacking = /^un|^g?un/.test(name) || args.some(({ text }) => /^-\w*d|^--(?:de|un)compress/.test(text));
  const bare = (arg: Arg) => ({ ...arg, text: unpacking ? arg.text.replace(/\.\w+$/, "") : arg.text });
  return [...writes(files), ...writes(files.map(bare))];
};

const extractor: Program = ({ name, args }) => {
  const action = args[0]?.text ?? "";
  const files = args.slice(1);
  if (/^(?:l|t|i|lb|lt|v|vb|vt)$/.test(action)) return reads(files);
  if (/^(?:x|e)$/.test(action)) return [...reads(files), ...unpacks(knownArg("."), files[0])];
  return [...writes(files.slice(0, 1)), ask(`Packs files with ${name}`)];
};

const cpio: Program = () => [ask("Packs or unpacks files with cpio, over whatever files it names")];

export const archives: ReadonlyMap<string, Program> = new Map([
  ["tar", tar],
  ["gtar", tar],
  ["bsdtar", tar],
  ["unzip", unzip],
  ["zip", zip],
  ["zipinfo", ({ args }) => reads(args)],
  ...["gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd", "lz4", "lzma", "pigz", "compress"].map(
    (name): [string, Program] => [name, compress],
  ),
  ["7z", extractor],
  ["7za", extractor],
  ["7zz", extractor],
  ["unrar", extractor],
  ["rar", extractor],
  ["cpio", cpio],
  ["pax", cpio],
  ["ar", ({ args }) => (/^-?[tp]/.test(args[0]?.text ?? "") ? reads(args.slice(1)) : writes(args.slice(1, 2)))],
]);
