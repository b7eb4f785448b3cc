/** Rules for sed, whose scripts can run commands and name files. A script that is not read to its end asks. */
import {
  ask,
  askForCode,
  type CommandEffect,
  type Input,
  opaque,
  type Program,
  reads,
  writes,
} from "../command-effect.ts";
import { type Arg, isKnown, knownArg, shown, UNKNOWN } from "../shell/arg.ts";
import { has, type Options, valuesOf } from "./options.ts";
import { type Rule, ruleTable } from "./rule.ts";

const sed: Rule = {
  short: "nEre:f:i::l:suzb",
  long: "quiet silent debug expression= file= follow-symlinks in-place=? line-length= null-data posix regexp-extended separate sandbox unbuffered zero-terminated",
  unlisted: askForCode("Runs sed with {option}, an option that is not known"),
  effects: ({ input }, options) => {
    const { files, scripts, inputs } = scriptsOf(options, ["e", "expression"], ["f", "file"], input);
    const inPlace = has(options, "i", "in-place");
    // BSD takes the suffix of `-i` from the next word: the script is then the word after it.
    const shifted = inPlace && scripts[0]?.text === "" ? inputs.slice(0, 1) : [];
    return [
      ...(inPlace ? [...writes(inputs), ...suffixEffects(options)] : reads(inputs)),
      ...reads(files),
      ...files.map((file) => askForCode(`Runs the sed script ${shown(file)}`)),
      ...(has(options, "sandbox") ? [] : [...scriptEffects(scripts), ...scriptEffects(shifted)]),
    ];
  },
};

/** Scripts on the command line and in the standard input, script files, and the files that they work on. */
export function scriptsOf(options: Options, codes: readonly string[], scriptFiles: readonly string[], input: Input) {
  const named = valuesOf(options, ...scriptFiles);
  const files = named.filter((file) => !isInput(file));
  const piped = named
    .filter(isInput)
    .map((file) => knownArg(file.content ?? (input.kind === "text" ? input.text : UNKNOWN)));
  const given = [...valuesOf(options, ...codes), ...piped];
  const isOperand = given.length === 0 && files.length === 0;
  const { operands } = options;
  return {
    files,
    scripts: isOperand ? operands.slice(0, 1) : given,
    inputs: isOperand ? operands.slice(1) : operands,
  };
}

function isInput({ text, content }: Arg): boolean {
  return text === "-" || content !== undefined;
}

/** A suffix with a slash names another folder for the backups. */
function suffixEffects(options: Options): readonly CommandEffect[] {
  const odd = valuesOf(options, "i", "in-place").filter(({ text }) => !/^[\w.~-]*$/.test(text));
  return odd.map((arg) => ask(`Makes sed write its backups to ${shown(arg)}`));
}

function scriptEffects(scripts: readonly Arg[]): readonly CommandEffect[] {
  if (scripts.length === 0) return [];
  const text = scripts.map((script) => script.text).join("\n");
  // A value inside `s/a/$x/` may hold a delimiter and a flag that runs a command.
  if (text.includes(UNKNOWN) || !scripts.every((script) => isKnown(script) || !script.splits)) {
    return [opaque(`Runs a sed script that is not known before it runs: ${shown(text)}`)];
  }
  // A delimiter in a bracket expression ends the pattern in some versions of sed.
  const readings = /\[/.test(text) ? [true, false] : [true];
  if (text.length > MAX_SCRIPT) return [ask("Runs a sed script that is too long to be read")];
  const read = readings.map((brackets) => new SedReader(text, brackets).read()).filter((each) => each !== undefined);
  return read.length > 0 ? read.flat() : [ask(`Runs a sed script that cannot be read: ${shown(text)}`)];
}

const NUMBER = /\d+(?:~\d+)?/y;
const STEP = /[+~]\d+/y;
const BLANKS = /[ \t]*/y;
const LABEL = /[ \t]*[^\s;{}]*/y;
const LINE = /[^\n]*/y;
/** Text of `a`, `i` and `c`: a backslash continues it on the next line. */
const TEXT = /(?:[^\\\n]|\\[\s\S])*/y;

/** Longest script that is read (UTF-16 units). */
const MAX_SCRIPT = 4096;

/** Position of the bracket that ends the expression which starts at `start`; `start` when nothing ends it. */
export function bracketEnd(text: string, start: number): number {
  let at = start + 1;
  if (text[at] === "^") at += 1;
  if (text[at] === "]") at += 1;
  for (; at < text.length && text[at] !== "\n"; at += 1) {
    if (text[at] === "]") return at;
    const sign = text[at] === "[" && /[:.=]/.test(text[at + 1] ?? "") ? text[at + 1] : undefined;
    const end = sign === undefined ? -1 : text.indexOf(`${sign}]`, at + 2);
    if (end >= 0) at = end + 1;
  }
  return start;
}

/** Reads a script from its start. Every method that reads gives false where the script is not understood. */
class SedReader {
  #at = 0;
  readonly #effects: CommandEffect[] = [];
  private readonly text: string;
  private readonly brackets: boolean;

  constructor(text: string, brackets: boolean) {
    this.text = text;
    this.brackets = brackets;
  }

  /** Effects of the script; undefined when it cannot be read to its end. */
  read(): readonly CommandEffect[] | undefined {
    while (this.#at < this.text.length) {
      this.#take(/[\s;{}]*/y);
      if (this.#at < this.text.length && !this.#command()) return undefined;
    }
    return this.#effects;
  }

  #command(): boolean {
    if (this.text[this.#at] === "#") return this.#take(LINE) !== undefined;
    if (!this.#addresses()) return false;
    const letter = this.text[this.#at] ?? "";
    this.#at += 1;
    switch (letter) {
      case "{":
      case "}":
        return true;
      case "s":
      case "y":
        return this.#substitution(letter);
      case "a":
      case "i":
      case "c":
        return this.#take(TEXT) !== undefined;
      case ":":
      case "b":
      case "t":
      case "T":
        return this.#take(LABEL) !== undefined && this.#ends();
      case "r":
      case "R":
      case "w":
      case "W":
        return this.#file(letter);
      case "e":
        return this.#run();
      case "q":
      case "Q":
      case "l":
      case "L":
        return this.#take(/[ \t]*\d*/y) !== undefined && this.#ends();
    }
    return letter !== "" && "=dDgGhHnNpPxzF".includes(letter) && this.#ends();
  }

  /** True at the end of a command. */
  #ends(): boolean {
    this.#take(BLANKS);
    const next = this.text[this.#at];
    return next === undefined || ";}#\n".includes(next);
  }

  #addresses(): boolean {
    if (!this.#address(NUMBER)) return false;
    this.#take(BLANKS);
    if (this.text[this.#at] === ",") {
      this.#at += 1;
      this.#take(BLANKS);
      const before = this.#at;
      if (this.#take(STEP) === undefined && (!this.#address(NUMBER) || this.#at === before)) return false;
    }
    this.#take(/[ \t!]*/y);
    return true;
  }

  /** Reads one address, or nothing. */
  #address(number: RegExp): boolean {
    if (this.#take(number) !== undefined) return true;
    const sign = this.text[this.#at];
    if (sign === "$") {
      this.#at += 1;
      return true;
    }
    if (sign !== "/" && sign !== "\\") return true;
    this.#at += sign === "/" ? 1 : 2;
    if (!this.#delimited(this.text[this.#at - 1] ?? "\n", this.brackets)) return false;
    return this.#take(/[IM]*/y) !== undefined;
  }

  #substitution(letter: string): boolean {
    const delimiter = this.text[this.#at] ?? "\n";
    this.#at += 1;
    if (delimiter === "\n" || delimiter === "\\") return false;
    if (!this.#delimited(delimiter, this.brackets && letter === "s") || !this.#delimited(delimiter, false))
      return false;
    if (letter === "y") return this.#ends();
    if (this.#take(/[gpiImM\d]*e[gpiImMe\d]*/y) !== undefined) {
      this.#effects.push(opaque("Runs the output of a sed script as shell commands"));
    } else this.#take(/[gpiImM\d]*/y);
    if (this.text[this.#at] !== "w") return this.#ends();
    this.#at += 1;
    return this.#file("w");
  }

  /** Reads to the next delimiter that no backslash precedes, and with `brackets` no bracket expression holds. */
  #delimited(delimiter: string, brackets: boolean): boolean {
    for (; this.#at < this.text.length; this.#at += 1) {
      const character = this.text[this.#at];
      if (character === "\\") this.#at += 1;
      else if (character === delimiter) {
        this.#at += 1;
        return delimiter !== "\n";
      } else if (character === "\n" && brackets) return false;
      else if (character === "[" && brackets) this.#at = bracketEnd(this.text, this.#at);
    }
    return false;
  }

  #file(letter: string): boolean {
    const path = knownArg((this.#take(LINE) ?? "").trim());
    this.#effects.push(...(/[wW]/.test(letter) ? writes([path]) : reads([path])));
    return path.text !== "";
  }

  #run(): boolean {
    const code = (this.#take(LINE) ?? "").trim();
    if (code === "") this.#effects.push(opaque("Runs its input as shell commands through sed"));
    else this.#effects.push(askForCode("Runs a shell command from a sed script"), { kind: "shell", code });
    return true;
  }

  /** Takes what the sticky pattern matches here; undefined when it does not match. */
  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }
}

export const streamEditors: ReadonlyMap<string, Program> = ruleTable({ "sed gsed": sed });
