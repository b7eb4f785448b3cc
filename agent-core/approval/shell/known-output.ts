/** What simple programs print when all that goes in is known: how `$(printf rm)` and `echo … | base64 -d | sh` are read. */
import { tmpdir } from "node:os";
import type { Call } from "../command-effect.ts";
import { type Arg, isKnown, TOKEN, UNKNOWN } from "./arg.ts";

/** Longer texts are not followed. */
const MAX_TEXT = 65_536;

type Printer = (args: readonly string[], input: string | undefined) => string | undefined;

const PRINTERS: ReadonlyMap<string, Printer> = new Map<string, Printer>([
  ["echo", (args) => echo(args)],
  ["printf", (args) => printf(args)],
  ["cat", (args, input) => (args.every((arg) => arg === "-") ? input : undefined)],
  ["tee", (_, input) => input],
  ["base64", (args, input) => decoded(args, input, "base64", ["-d", "-D", "--decode", "-di"])],
  ["base32", (args, input) => (args.every((arg) => /^(?:-d|--decode)$/.test(arg)) ? base32(input) : undefined)],
  ["basenc", (args, input) => (args.includes("--base64") ? decoded(["-d"], input, "base64", ["-d"]) : undefined)],
  [
    "xxd",
    (args, input) =>
      args
        .join("")
        .replaceAll("-", "")
        .match(/^[rp]+$/)
        ? hex(input)
        : undefined,
  ],
  ["openssl", (args, input) => (args.includes("-d") && !args.includes("-in") ? base64(input) : undefined)],
  ["rev", (args, input) => (args.length === 0 ? input?.split("\n").map(reversed).join("\n") : undefined)],
  ["tr", (args, input) => translate(args, input)],
  [
    "tac",
    (args, input) =>
      args.length === 0
        ? input
            ?.split(/(?<=\n)/)
            .reverse()
            .join("")
        : undefined,
  ],
]);

/** Programs whose output is one harmless token. */
const TOKENS = new Set([
  "date",
  "nproc",
  "uname",
  "whoami",
  "hostname",
  "arch",
  "uuidgen",
  "sha256sum",
  "md5sum",
  "tty",
]);
const SILENT = new Set([
  ":",
  "true",
  "false",
  "cd",
  "test",
  "[",
  "export",
  "set",
  "shift",
  "unset",
  "exit",
  "return",
  "wait",
]);

/** The output of a call, with the marks of arg.ts for what is not known. */
export function knownOutput(call: Call): string {
  if (SILENT.has(call.name)) return "";
  if (isToken(call)) return TOKEN;
  if (call.name === "mktemp" && call.args.every(({ text }) => text === "-d")) return `${tmpdir()}/tmp.${TOKEN}`;
  const printer = PRINTERS.get(call.name);
  const marked = printed(call);
  if (marked !== undefined) return marked;
  if (!printer || !call.args.every(isPlain)) return UNKNOWN;
  const input = call.input.kind === "text" && isMarkless(call.input.text) ? call.input.text : undefined;
  if (input !== undefined && input.length > MAX_TEXT) return UNKNOWN;
  const words = call.args.map(({ text }) => text);
  return printer(words, input) ?? UNKNOWN;
}

/** Echo and cat pass marks on, so that `$(echo "dist-$version")` keeps what is known of it. */
function printed({ name, args, input }: Call): string | undefined {
  if (name === "cat" && args.length === 0 && input.kind === "text") return input.text;
  const simple = name === "echo" && args.every(({ text, glob, splits }) => !glob && !splits && !/[\\]|^-/.test(text));
  return simple ? `${args.map(({ text }) => text).join(" ")}\n` : undefined;
}

function isToken({ name, args }: Call): boolean {
  const words = args.map(({ text }) => text);
  if (name === "date") return words.every((word) => /^(?:-u|-I\w*|--utc|\+[\w%:.-]*)$/.test(word));
  if (name === "wc") return words.some((word) => /^-[lwc]$/.test(word));
  if (name === "id") return words.length > 0 && words.every((word) => /^-[ugn]+$/.test(word));
  if (name === "git")
    return (
      words[0] === "rev-parse" &&
      words.length > 1 &&
      words.slice(1).every((word) => /^(?:HEAD|--short(?:=\d+)?|--verify)$/.test(word))
    );
  return TOKENS.has(name) && words.every((word) => /^-[a-z]$/.test(word));
}

function isPlain(arg: Arg): boolean {
  return isKnown(arg) && !arg.glob && !arg.splits && arg.content === undefined;
}

function isMarkless(text: string): boolean {
  return !text.includes(UNKNOWN) && !text.includes(TOKEN);
}

/** Shells disagree on backslashes in `echo`: with one the output counts as unknown, but for `-e`. */
function echo(args: readonly string[]): string | undefined {
  const options = args.findIndex((arg) => !/^-[neE]+$/.test(arg));
  const [flags, words] = options < 0 ? [args, []] : [args.slice(0, options), args.slice(options)];
  const escapes = flags.some((flag) => flag.includes("e"));
  const text = words.join(" ");
  if (!escapes && text.includes("\\")) return undefined;
  const end = flags.some((flag) => flag.includes("n")) ? "" : "\n";
  return (escapes ? unescaped(text) : text) + end;
}

function printf(args: readonly string[]): string | undefined {
  const [format = "", ...values] = args[0] === "--" ? args.slice(1) : args;
  if (format.startsWith("-") || /%(?![sbdcqx%])/.test(format)) return undefined;
  const holes = format.match(/%[sbdcqx]/g)?.length ?? 0;
  const rounds = holes === 0 ? 1 : Math.max(1, Math.ceil(values.length / holes));
  if (rounds * format.length > MAX_TEXT) return undefined;
  let next = 0;
  const fill = (hole: string) => {
    if (hole === "%%") return "%";
    const value = values[next] ?? "";
    next += 1;
    if (hole === "%b") return unescaped(value);
    if (hole === "%c") return value.slice(0, 1);
    if (hole === "%x") return Number(value).toString(16);
    return value;
  };
  let text = "";
  for (let round = 0; round < rounds; round += 1) text += unescaped(format).replace(/%[sbdcqx%]/g, fill);
  return text;
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  a: "\u0007",
  b: "\b",
  f: "\f",
  v: "\v",
  e: "\u001b",
};

function unescaped(text: string): string {
  return text.replace(/\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|0?([0-7]{1,3})|([\s\S]))/g, (whole, ...found) => {
    const [hexadecimal, unicode, octal, letter] = found as (string | undefined)[];
    if (hexadecimal !== undefined) return String.fromCharCode(Number.parseInt(hexadecimal, 16));
    if (unicode !== undefined) return String.fromCharCode(Number.parseInt(unicode, 16));
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 255);
    if (letter === "\\" || letter === '"' || letter === "'") return letter;
    return ESCAPES[letter ?? ""] ?? whole;
  });
}

function decoded(
  args: readonly string[],
  input: string | undefined,
  encoding: "base64",
  flags: readonly string[],
): string | undefined {
  const decodes = args.length > 0 && args.every((arg) => flags.includes(arg) || arg === "-i" || arg === "-");
  return decodes && encoding === "base64" ? base64(input) : undefined;
}

function base64(input: string | undefined): string | undefined {
  return input === undefined ? undefined : textOf(Buffer.from(input, "base64"));
}

function hex(input: string | undefined): string | undefined {
  return input === undefined ? undefined : textOf(Buffer.from(input.replace(/\s/g, ""), "hex"));
}

function base32(input: string | undefined): string | undefined {
  if (input === undefined) return undefined;
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  let bits = "";
  for (const letter of input.replace(/[\s=]/g, "")) {
    const value = alphabet.indexOf(letter);
    if (value < 0) return undefined;
    bits += value.toString(2).padStart(5, "0");
  }
  return textOf(Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2))));
}

/** A zero byte ends nothing here: it becomes an unknown piece, which asks. */
function textOf(bytes: Buffer): string {
  return bytes.toString("utf8");
}

function reversed(line: string): string {
  return [...line].reverse().join("");
}

function translate(args: readonly string[], input: string | undefined): string | undefined {
  if (input === undefined) return undefined;
  const [first = "", second = ""] = args;
  if (first === "-d" && args.length === 2) {
    const gone = range(second);
    return gone && [...input].filter((letter) => !gone.includes(letter)).join("");
  }
  const [from, to] = [range(first), range(second)];
  if (args.length !== 2 || !from || !to?.length) return undefined;
  const last = to.at(-1) ?? "";
  return [...input].map((letter) => (from.includes(letter) ? (to[from.lastIndexOf(letter)] ?? last) : letter)).join("");
}

/** The characters of a set of `tr`; undefined when it has classes or escapes. */
function range(set: string): readonly string[] | undefined {
  if (set.startsWith("-") || /\\|\[[:=.]/.test(set)) return undefined;
  const letters: string[] = [];
  for (const [, low, high, one] of set.matchAll(/([\s\S])-([\s\S])|([\s\S])/g)) {
    if (one !== undefined) letters.push(one);
    else for (let at = code(low); at <= code(high); at += 1) letters.push(String.fromCharCode(at));
    if (letters.length > 512) return undefined;
  }
  return letters;
}

function code(letter: string | undefined): number {
  return letter?.charCodeAt(0) ?? 0;
}
