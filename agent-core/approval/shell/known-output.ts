/** Output of simple programs whose arguments and input are known: `$(printf rm)` is read as `rm`. */
import { tmpdir } from "node:os";
import type { Call, Input } from "../command-effect.ts";
import { type Arg, isKnown, TOKEN, UNKNOWN } from "./arg.ts";

const MAX_TEXT = 65_536;

/** Programs that print a number, a name or a hash; with such words their output has no slash, and no dash at its start. */
const TOKENS = new Set("date nproc uname whoami hostname arch uuidgen sha256sum md5sum wc id seq".split(" "));
const TOKEN_WORD = /^(?:-[a-zI]+|-?[\d.]+|\+(?:\w|%[FsYyTmdHMSjN])(?:[\w:.-]|%[FsYyTmdHMSjN])*)$/;
/** Programs that turn a disguised text into a readable one. */
const DECODERS = new Set("base64 base32 basenc xxd openssl rev tr tac uudecode".split(" "));
const SILENT = new Set(": true false cd test [ export set shift unset exit return wait".split(" "));
export function knownOutput({ name, args, input }: Call): string {
  if (SILENT.has(name)) return "";
  if (TOKENS.has(name) && args.every(({ text }) => TOKEN_WORD.test(text))) return TOKEN;
  if (name === "mktemp" && args.every(({ text }) => text === "-d")) return `${tmpdir()}/tmp.${TOKEN}`;
  if (name === "cat" || name === "tee") return copy(name, args, input);
  // Unknown pieces stay where they are: the rest of `$(echo "dist-$version")` is known.
  const words = args.map(({ text }) => text);
  if (name === "echo" && args.every(isLiteral) && !/^-[neE]/.test(words[0] ?? "")) return `${words.join(" ")}\n`;
  if (name === "printf" && args.every(isPlain)) return printf(words) ?? UNKNOWN;
  return UNKNOWN;
}

/** True when a call decodes a text that the command itself holds: `echo cm0= | base64 -d`. */
export function isDecodingText({ name, input }: Call): boolean {
  return DECODERS.has(name) && input.kind === "text" && !input.text.includes(UNKNOWN);
}

function copy(name: string, args: readonly Arg[], input: Input): string {
  const copies = name === "tee" || args.every(({ text }) => text === "-");
  return copies && input.kind === "text" && input.text.length <= MAX_TEXT ? input.text : UNKNOWN;
}

/** True for a word that every `echo` prints as it is. */
function isLiteral({ text, glob, splits }: Arg): boolean {
  return !glob && !splits && !text.includes("\\");
}

function isPlain(arg: Arg): boolean {
  return isKnown(arg) && !arg.glob && !arg.splits && arg.content === undefined;
}

/** Only for a format of `%s`, plain characters and line feeds. */
function printf([format = "", ...values]: readonly string[]): string | undefined {
  if (!/^(?!-)(?:%s|\\n|[^%\\])*$/.test(format) || values.length * format.length > MAX_TEXT) return undefined;
  const holes = format.split("%s").length - 1;
  const rounds = holes === 0 ? 1 : Math.max(1, Math.ceil(values.length / holes));
  const rest = values.toReversed();
  return format
    .repeat(rounds)
    .replaceAll("\\n", "\n")
    .replaceAll("%s", () => rest.pop() ?? "");
}
