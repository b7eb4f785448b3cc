/** Programs that delete files or change who may use them. */
import { ask, block, CHANGE, type CommandEffect, type Program } from "../command-effect.ts";
import { type Arg, shown } from "../shell/arg.ts";
import { has, readOptions } from "./options.ts";

const rm: Program = ({ args }) => {
  const options = readOptions(args, {
    short: "dfiIPrRvWx",
    long: "force interactive=? one-file-system no-preserve-root preserve-root=? recursive dir verbose".split(" "),
  });
  const recursive = has(options, "r", "R", "recursive") || options.strange.length > 0;
  if (has(options, "no-preserve-root")) return [block("Deletes without the guard that protects the whole disk")];
  return options.operands.map((path) => ({ kind: "delete", path, recursive }));
};

/** Only an empty folder goes: nothing is lost. */
const rmdir: Program = ({ args }) =>
  args
    .filter(({ text }) => !text.startsWith("-"))
    .map((path) => ({ kind: "delete", path, recursive: false, moves: true }));

const unlink: Program = ({ args }) => args.map((path) => ({ kind: "delete", path, recursive: false }));

const shred: Program = ({ args }) =>
  args
    .filter(({ text }) => !text.startsWith("-"))
    .flatMap((path): CommandEffect[] => [
      { kind: "write", path },
      { kind: "delete", path, recursive: false },
    ]);

const trash: Program = ({ args }) =>
  args.filter(({ text }) => !text.startsWith("-")).map((path) => ({ kind: "delete", path, recursive: true }));

const OPEN_TO_ALL = /^0?[0-7]?[0-7][0-7][2367]$|^[ugoa]*[oa][ugoa]*[+=][rxX]*w|^[+=]w/;
const SPECIAL_BITS = /^0?[2467][0-7]{3}$|[+=][rwxX]*[st]/;

const chmod: Program = ({ args }) => {
  const options = readOptions(
    args.map((arg) => (/^-[rwxXst]+$/.test(arg.text) ? { ...arg, text: `a${arg.text}` } : arg)),
    {
      short: "cfvRhHLP",
      long: "changes silent quiet verbose reference= recursive preserve-root no-preserve-root".split(" "),
    },
  );
  const [mode, ...paths] = has(options, "reference") ? [undefined, ...options.operands] : options.operands;
  const recursive = has(options, "R", "recursive") || options.strange.length > 0;
  return [
    ...changed(
      paths.filter((path) => path !== undefined),
      recursive,
    ),
    ...modeEffects(mode),
  ];
};

function modeEffects(mode: Arg | undefined): readonly CommandEffect[] {
  if (!mode) return [];
  if (OPEN_TO_ALL.test(mode.text)) return [ask(`Lets every user of this machine write (mode ${shown(mode)})`)];
  if (SPECIAL_BITS.test(mode.text)) return [ask(`Lets a program run with its owner's rights (mode ${shown(mode)})`)];
  return /^[0-7]+$|^[ugoa]*[-+=]/.test(mode.text) ? [] : [ask(`Sets the mode ${shown(mode)}`)];
}

function changed(paths: readonly Arg[], recursive: boolean): readonly CommandEffect[] {
  return paths.map((path) => ({ kind: "permissions", path, recursive }));
}

const chown: Program = ({ name, args }) => {
  const options = readOptions(args, {
    short: "cfvRhHLP",
    long: "changes silent quiet verbose dereference no-dereference from= reference= recursive preserve-root no-preserve-root".split(
      " ",
    ),
  });
  const paths = has(options, "reference") ? options.operands : options.operands.slice(1);
  const recursive = has(options, "R", "recursive") || options.strange.length > 0;
  return [
    ...changed(paths, recursive),
    ask(`Changes the ${name === "chgrp" ? "group" : "owner"} of ${paths.map(shown).join(", ")}`),
  ];
};

const attributes: Program = ({ name, args }) => {
  const recursive = args.some(({ text }) => /^-\w*R/.test(text));
  const paths = args.filter(({ text }) => text.includes("/") || /^[\w.~]/.test(text));
  return [...changed(paths, recursive), ask(`Changes file attributes with ${name}`), CHANGE];
};

export const fileRemovers: ReadonlyMap<string, Program> = new Map([
  ["rm", rm],
  ["grm", rm],
  ["rmdir", rmdir],
  ["unlink", unlink],
  ["shred", shred],
  ["srm", trash],
  ["wipe", trash],
  ["trash", trash],
  ["trash-put", trash],
  ["rimraf", trash],
  ["del-cli", trash],
  ["chmod", chmod],
  ["chown", chown],
  ["chgrp", chown],
  ["chattr", attributes],
  ["setfacl", attributes],
  ["xattr", attributes],
]);
