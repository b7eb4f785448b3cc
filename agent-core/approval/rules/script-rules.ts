/** Rules for sed and awk: a script of a plain form only edits text; any other one asks, because it may run or write anything. */
import { ask, askForCode, type CommandEffect, opaque, reads, writes } from "../command-effect.ts";
import { type Arg, isKnown, knownArg, shown } from "../shell/arg.ts";
import { has, valuesOf } from "./options.ts";
import { type Rule, ruleTable } from "./rule.ts";
import { scanCode } from "./scan-code.ts";

type Language = {
  readonly grammar: Pick<Rule, "short" | "long" | "options" | "posix">;
  /** Options with a script, and with a file that holds one. */
  readonly code: readonly string[];
  readonly file: readonly string[];
  readonly isPlain: (script: string) => boolean;
  /** Shell code in a script, which counts where a catastrophe is among it. */
  readonly commands: (script: string) => readonly string[];
};

function scripted({ grammar, code, file, isPlain, commands }: Language): Rule {
  return {
    ...grammar,
    unlisted: opaque("Runs {name} with {option}, an option that is not known"),
    effects: ({ name, input }, options) => {
      const named = valuesOf(options, ...file);
      const isInput = ({ text, content }: Arg): boolean => text === "-" || content !== undefined;
      const piped = named.filter(isInput).map(({ content }) => {
        const text = content ?? (input.kind === "text" ? input.text : undefined);
        return text === undefined ? undefined : knownArg(text);
      });
      const files = named.filter((each) => !isInput(each));
      const given = [...valuesOf(options, ...code), ...piped];
      const isOperand = given.length === 0 && files.length === 0;
      const inputs = (isOperand ? options.operands.slice(1) : options.operands).filter(isFile);
      const inPlace = has(options, "i", "in-place");
      const scripts = isOperand ? options.operands.slice(0, 1) : given;
      // BSD takes the suffix of `-i` from the next word: the script is then the word after it.
      const shifted = inPlace && scripts[0]?.text === "" ? inputs.slice(0, 1) : [];
      const odd = [...scripts, ...shifted].filter(
        (script) => script === undefined || !isKnown(script) || script.splits || !isPlain(script.text),
      );
      const suffixes = valuesOf(options, "i", "in-place").filter(({ text }) => !/^[\w.~-]*$/.test(text));
      return [
        ...(inPlace ? writes(inputs) : reads(inputs)),
        ...suffixes.map((arg) => ask(`Makes ${name} write its backups to ${shown(arg)}`)),
        ...files.map((each) => askForCode(`Runs the ${name} script ${shown(each)}`)),
        ...odd.flatMap((script) => [
          opaque(`Runs a ${name} script that may run commands or write files: ${shown(script ?? "…")}`),
          ...(script === undefined ? [] : [...scanCode(script.text), ...commands(script.text).map(raised)]),
        ]),
      ];
    },
  };
}

/** In awk an assignment stands among the files. */
function isFile({ text }: Arg): boolean {
  return !/^\w+=/.test(text);
}

function raised(code: string): CommandEffect {
  return { kind: "shell", code, escalateOnly: true };
}

/** A text up to its delimiter, which no bracket expression holds: it would end the pattern in some versions of sed. */
const until = (sign: string): string => {
  const own = `\\${sign}`;
  return `(?:[^${own}\\\\\\n[]|\\\\.|\\[\\^?[^\\]${own}\\\\\\n]+\\])*${own}`;
};
const ADDRESS = `(?:\\d+(?:~\\d+)?|\\$|/${until("/")}[IM]*)`;
const END = "(?=[ \\t]*(?:[;}\\n]|$))";
/** Pieces of a plain script: addresses, commands without the name of a file, labels, texts to the end of a line. */
const PIECES = [
  "[\\s;{}]+",
  `${ADDRESS}(?:[ \\t]*,[ \\t]*(?:${ADDRESS}|[+~]\\d+))?[ \\t]*!?`,
  `[=dDgGhHnNpPxqQ]${END}`,
  `[:btT][ \\t]*\\w*${END}`,
  ...["/", "|", "#", ",", "@", "!", ":"].map((sign) => `s\\${sign}${until(sign)}${until(sign)}[gpiIM\\d]*${END}`),
  "[aic](?:\\\\\\n)?[^\\n\\\\]*(?=\\n|$)",
];
const PIECE = new RegExp(PIECES.join("|"), "y");

/** True for a script whose every piece is plain. */
function isPlainSed(script: string): boolean {
  if (script.length > MAX_SCRIPT) return false;
  for (let at = 0; at < script.length; at = PIECE.lastIndex) {
    PIECE.lastIndex = at;
    if (!PIECE.test(script)) return false;
  }
  return true;
}

/** Longer scripts are not read (UTF-16 units). */
const MAX_SCRIPT = 1000;

const sed = scripted({
  grammar: {
    short: "nEre:f:i::l:suzb",
    long: "quiet silent debug expression= file= follow-symlinks in-place=? line-length= null-data posix regexp-extended separate unbuffered zero-terminated",
  },
  code: ["e", "expression"],
  file: ["f", "file"],
  isPlain: isPlainSed,
  commands: (script) => [...script.matchAll(/e[ \t]+([^\n]*)/g)].map(([, code = ""]) => code),
});

/** Words and signs by which a program reaches files and commands. After `print` a bar or an arrow leads out. */
const REACHES = /system|getline|ARG[VCI]|@|\\\r?\n|print[\s\S]*(?:(?<!\|)\|(?!\|)|>)/;

/** A text in quotes reaches nothing. With a slash or a comment in the program it is not certain where a text ends. */
function isPlainAwk(script: string): boolean {
  const bare = /[/#]/.test(script) ? script : script.replace(/"(?:[^"\\\n]|\\.)*"/g, '""');
  return script.length <= MAX_SCRIPT && !REACHES.test(bare);
}

const awk = scripted({
  grammar: {
    posix: true,
    short: "F:v:f:e:bcIMnNOPrstV",
    long: "field-separator= assign= file= source= characters-as-bytes traditional csv lint=? non-decimal-data posix re-interval version",
  },
  code: ["e", "source"],
  file: ["f", "file"],
  isPlain: isPlainAwk,
  commands: () => [],
});

export const textPrograms = ruleTable({ "sed gsed": sed, "awk gawk mawk nawk": awk });
