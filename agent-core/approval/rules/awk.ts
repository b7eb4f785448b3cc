/** awk: a language that can run commands and write files; a program that does neither only reads. */
import { askForCode, type CommandEffect, opaque, type Program, reads, writes } from "../command-effect.ts";
import { type Arg, knownArg, shown, UNKNOWN } from "../shell/arg.ts";
import { has, readOptions, valuesOf } from "./options.ts";

const awk: Program = ({ args }) => {
  const options = readOptions(args, {
    short: "F:v:f:bcCd::D::e:E:ghi:Il:L::M nNo::Op::PrsS tV".replaceAll(" ", ""),
    long: [
      ..."field-separator= assign= file= characters-as-bytes traditional copyright dump-variables=? debug=? source=".split(
        " ",
      ),
      ..."exec= gen-pot help include= load= lint=? bignum use-lc-numeric non-decimal-data pretty-print=? optimize".split(
        " ",
      ),
      ..."profile=? posix re-interval no-optimize sandbox lint-old version csv".split(" "),
    ],
    posix: true,
  });
  const given = valuesOf(options, "e", "source");
  const files = valuesOf(options, "f", "file", "E", "exec");
  const fromOperand = given.length === 0 && files.length === 0;
  const scripts = fromOperand ? options.operands.slice(0, 1) : given;
  const inputs = (fromOperand ? options.operands.slice(1) : options.operands).filter(({ text }) => !/^\w+=/.test(text));
  const inPlace = valuesOf(options, "i", "include").some(({ text }) => text.startsWith("inplace"));
  const loads = has(options, "l", "load") || (has(options, "i", "include") && !inPlace);
  return [
    ...(inPlace ? writes(inputs) : reads(inputs)),
    ...files.map((file) => askForCode(`Runs the awk script ${shown(file)}`)),
    ...(has(options, "S", "sandbox") ? [] : scripts.flatMap(scriptEffects)),
    ...(loads || has(options, "o", "p", "d", "D") ? [opaque("Makes awk load or write a file on the side")] : []),
    ...options.strange.filter((arg) => !scripts.includes(arg) && !inputs.includes(arg)).map(strange),
  ];
};

function strange(arg: Arg): CommandEffect {
  return askForCode(`Runs awk with ${shown(arg)}, which may be an option`);
}

/** The program without its strings, regular expressions and comments; the strings apart. */
function scriptEffects(script: Arg): readonly CommandEffect[] {
  const { text } = script;
  if (text.includes(UNKNOWN)) return [opaque(`Runs an awk program that is not known before it runs: ${shown(script)}`)];
  const strings: string[] = [];
  const code = text
    .replace(/"((?:[^"\\]|\\[\s\S])*)"/g, (_, string: string) => {
      strings.push(string);
      return `"${strings.length - 1}"`;
    })
    .replace(/(^|[\s(,!~&|{;])\/(?:[^/\\\n]|\\.)+\//g, "$1 0 ")
    .replace(/#.*/g, "");
  return [...runs(code, strings), ...fileEffects(code, strings)];
}

function runs(code: string, strings: readonly string[]): readonly CommandEffect[] {
  // `||` is an or; a single bar pipes to or from a command.
  const piped = /(?<!\|)\|&?(?!\|)/.test(code);
  if (!piped && !/\bsystem\s*\(|@\s*\w+\s*\(|@(?:load|include)/.test(code)) return [];
  const shells = strings.map((text): CommandEffect => ({ kind: "shell", code: plain(text), raises: true }));
  const joined: CommandEffect = { kind: "shell", code: plain(strings.join(" ")), raises: true };
  return [askForCode("Runs shell commands from an awk program"), ...shells, joined];
}

function plain(text: string): string {
  return text.replaceAll('\\"', '"').replaceAll("\\n", "\n").replaceAll(UNKNOWN, " ");
}

/** `print > "file"`: inside a print a `>` outside of parentheses is a redirection. */
function fileEffects(code: string, strings: readonly string[]): readonly CommandEffect[] {
  const effects: CommandEffect[] = [];
  for (const [statement] of code.matchAll(/\bprintf?\b[^;\n}]*/g)) {
    const flat = statement.replace(/\([^()]*\)/g, "").replace(/\([^()]*\)/g, "");
    const target = />>?\s*(.*)$/.exec(flat)?.[1]?.trim();
    if (target === undefined) continue;
    const string = /^"(\d+)"$/.exec(target)?.[1];
    const path = string === undefined ? UNKNOWN : (strings[Number(string)] ?? UNKNOWN);
    effects.push(...writes([knownArg(path)]));
  }
  for (const [, number] of code.matchAll(/\bgetline\b[^<;\n}]*<\s*"(\d+)"/g)) {
    effects.push(...reads([knownArg(strings[Number(number)] ?? UNKNOWN)]));
  }
  return effects;
}

export const awks: ReadonlyMap<string, Program> = new Map([
  ["awk", awk],
  ["gawk", awk],
  ["mawk", awk],
  ["nawk", awk],
]);
