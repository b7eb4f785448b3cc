/** Output of simple programs whose arguments and input are known: `$(printf rm)` is read as `rm`. */
import { tmpdir } from "node:os";
import type { Call, Input } from "../command-effect.ts";
import { type Arg, isKnown, TOKEN, UNKNOWN } from "./arg.ts";

/** Longer texts are not followed (UTF-16 units). */
const MAX_TEXT = 65_536;

/** Programs that print one harmless token. */
const TOKENS = new Set("date nproc uname whoami hostname arch uuidgen sha256sum md5sum tty".split(" "));
const SILENT = new Set(": true false cd test [ export set shift unset exit return wait".split(" "));
/** Programs that turn a disguised text into a readable one. */
const DECODERS = new Set("base64 base32 basenc xxd openssl rev tr tac uudecode".split(" "));

/** Output of a call; unknown pieces are the marks of arg.ts. */
export function knownOutput({ name, args, input }: Call): string {
  if (SILENT.has(name)) return "";
  if (isToken(name, args)) return TOKEN;
  if (name === "mktemp" && args.every(({ text }) => text === "-d")) return `${tmpdir()}/tmp.${TOKEN}`;
  if (name === "cat" || name === "tee") return copy(name, args, input);
  // Unknown pieces stay where they are: the rest of `$(echo "dist-$version")` is known.
  const words = args.map(({ text }) => text);
  if (name === "echo" && args.every(isLiteral)) return `${words.join(" ")}\n`;
  if (!args.every(isPlain)) return UNKNOWN;
  if (name === "echo") return echo(words) ?? UNKNOWN;
  return (name === "printf" && printf(words)) || UNKNOWN;
}

/** True when a call decodes a text that the command itself holds: `echo cm0= | base64 -d`. */
export function isDecodingText({ name, input }: Call): boolean {
  return DECODERS.has(name) && input.kind === "text" && !input.text.includes(UNKNOWN);
}

function isToken(name: string, args: readonly Arg[]): boolean {
  const words = args.map(({ text }) => text);
  if (name === "date")
    return words.every((word) => /^(?:-u|-I\w*|--utc)$|^\+(?:\w|%-?[FsYyTmdHMSjN])[\w%:.-]*$/.test(word));
  // With a file it prints the name of the file, too.
  if (name === "wc") return words.length > 0 && words.every((word) => /^-[lwc]$/.test(word));
  if (name === "id") return words.length > 0 && words.every((word) => /^-[ugn]+$/.test(word));
  if (name === "git") {
    const [verb, ...rest] = words;
    return (
      verb === "rev-parse" && rest.length > 0 && rest.every((word) => /^(?:HEAD|--short(?:=\d+)?|--verify)$/.test(word))
    );
  }
  if (name === "seq") return words.every((word) => /^-?[\d.]+$/.test(word));
  return TOKENS.has(name) && words.every((word) => /^-[a-z]$/.test(word));
}

function copy(name: string, args: readonly Arg[], input: Input): string {
  const copies = name === "tee" || args.every(({ text }) => text === "-");
  return copies && input.kind === "text" && input.text.length <= MAX_TEXT ? input.text : UNKNOWN;
}

/** True for a word that every `echo` prints as it is. */
function isLiteral({ text, glob, splits }: Arg): boolean {
  return !glob && !splits && !/[\\]|^-/.test(text);
}

function isPlain(arg: Arg): boolean {
  return isKnown(arg) && !arg.glob && !arg.splits && arg.content === undefined;
}

/** Shells disagree on backslashes in `echo`: without `-e` the output of one is unknown. */
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
