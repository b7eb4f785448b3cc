/** Filters that can write a file or run a helper on the side. */
import { ask, opaque, type Program, reads, writes } from "../command-effect.ts";
import { has, readOptions, valuesOf } from "../options.ts";
import { shown } from "../shell/arg.ts";

const sort: Program = ({ args }) => {
  const options = readOptions(args, {
    short: "bdfghiMnRrVcCmo:suzk:S:t:T:",
    long: [
      ..."ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort".split(
        " ",
      ),
      ..."human-numeric-sort numeric-sort random-sort reverse version-sort stable unique zero-terminated merge".split(
        " ",
      ),
      ..."debug check=? batch-size= compress-program= files0-from= key= output= buffer-size= field-separator=".split(
        " ",
      ),
      ..."temporary-directory= parallel= random-source= sort=".split(" "),
    ],
  });
  return [
    ...reads([...options.operands, ...valuesOf(options, "files0-from", "random-source")]),
    ...writes([...valuesOf(options, "o", "output"), ...valuesOf(options, "T", "temporary-directory")]),
    ...(has(options, "compress-program") ? [opaque("Makes sort run another program")] : []),
    ...options.strange.map((arg) => ask(`Runs sort with ${shown(arg)}, which may be an option that writes a file`)),
  ];
};

const uniq: Program = ({ args }) => {
  const options = readOptions(args, {
    short: "cdDf:is:uzw:",
    long: "count repeated all-repeated=? skip-fields= group=? ignore-case skip-chars= unique zero-terminated check-chars=".split(
      " ",
    ),
  });
  const [input, output] = options.operands;
  return [...reads(input ? [input] : []), ...writes(output ? [output] : [])];
};

const shuf: Program = ({ args }) => {
  const options = readOptions(args, {
    short: "ei:n:o:rz",
    long: "echo input-range= head-count= output= random-source= repeat zero-terminated".split(" "),
  });
  return [...reads(options.operands), ...writes(valuesOf(options, "o", "output"))];
};

const tee: Program = ({ args }) => {
  const options = readOptions(args, { short: "aip", long: ["append", "ignore-interrupts", "output-error=?"] });
  return writes(options.operands);
};

const sponge: Program = ({ args }) => writes(args.filter(({ text }) => !text.startsWith("-")));

const split: Program = ({ args }) => {
  const options = readOptions(args, {
    short: "a:b:C:d::el:n:t:ux::p:",
    long: "suffix-length= additional-suffix= bytes= line-bytes= numeric-suffixes=? hex-suffixes=? elide-empty-files filter= lines= number= separator= unbuffered verbose".split(
      " ",
    ),
  });
  const [input, prefix] = options.operands;
  const filters = valuesOf(options, "filter").map(({ text }) => ({ kind: "shell", code: text }) as const);
  return [
    ...reads(input ? [input] : []),
    ...writes(prefix ? [prefix] : [{ text: "x", glob: false, splits: false }]),
    ...filters,
  ];
};

/** Writers in place: every operand is a file that they change. */
const inPlace: Program = ({ args }) => writes(args.filter(({ text }) => !text.startsWith("-")));

const tr: Program = () => [];

export const textTools: ReadonlyMap<string, Program> = new Map([
  ["sort", sort],
  ["uniq", uniq],
  ["shuf", shuf],
  ["tr", tr],
  ["tee", tee],
  ["sponge", sponge],
  ["split", split],
  ["csplit", split],
  ["dos2unix", inPlace],
  ["unix2dos", inPlace],
]);
