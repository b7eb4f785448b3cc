/** Content of a prompt: its words, files after `@`, pictures and standard input. */
import { once } from "node:events";
import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { ContentBlock } from "@zed-industries/agent-client-protocol";
import { UsageError } from "../../agent-core/platform/errors.ts";
import { textOf } from "../../agent-core/platform/text-file.ts";

/** The words, a link for each existing file after `@`, and the pictures (paths). Throws a UsageError for no picture. */
export function promptBlocks(text: string, cwd: string, images: readonly string[] = []): ContentBlock[] {
  const mentioned = [...text.matchAll(/(?<![\w.%+@-])[@＠](\S+)/g)].flatMap(([, name = ""]) => {
    // A full stop may follow, a line, or text without blanks between its words: the longest name that exists is meant.
    const ends = [...name.matchAll(/(?=\P{ASCII}|[\p{Po}\p{Pe}\p{Pf}]*$|(?::\d+)+$|#L\d)/gu)].map(({ index }) => index);
    const paths = ends.toReversed().map((end) => resolve(cwd, name.slice(0, end)));
    return paths.find((path) => path !== cwd && existsSync(path)) ?? [];
  });
  const links = [...new Set(mentioned)].map((path): ContentBlock => {
    const uri = `${pathToFileURL(path).href}${statSync(path).isDirectory() ? "/" : ""}`;
    return { type: "resource_link", uri, name: basename(path) };
  });
  const words: ContentBlock[] = text === "" ? [] : [{ type: "text", text }];
  return [...words, ...links, ...images.map((image) => pictureBlock(resolve(cwd, image)))];
}

/** `path`: absolute. Throws a UsageError. */
function pictureBlock(path: string): ContentBlock {
  const [, type] = /\.(png|jpe?g|gif|webp)$/i.exec(path) ?? [];
  if (type === undefined) throw new UsageError(`${path} is no picture: .png, .jpg, .gif and .webp are.`);
  if (!existsSync(path)) throw new UsageError(`the picture ${path} does not exist`);
  const mimeType = `image/${type.toLowerCase().replace("jpg", "jpeg")}`;
  return { type: "image", mimeType, data: readFileSync(path).toString("base64") };
}

/** A command such as a long test run may write its first line late. Milliseconds. */
const INPUT_NOTE_AFTER_MS = 3_000;
const TYPE_PROMPT = "type a prompt, and end it with Enter and Ctrl+D; hermes --help shows more.";

/**
 * The words with the pictures, and standard input as an attachment, or as the words when there are none. `silenceMs`: limit of the
 * wait for its first byte beside words.
 */
export async function withInput(
  prompt: string,
  pictures: readonly ContentBlock[],
  silenceMs: number,
): Promise<ContentBlock[]> {
  const isTyped = process.stdin.isTTY;
  const line = isTyped ? TYPE_PROMPT : "waiting for the end of standard input …";
  const note = (): void => void process.stderr.write(`hermes: ${line}\n`);
  const timer = setTimeout(note, isTyped ? 0 : INPUT_NOTE_AFTER_MS);
  const bytes = await (prompt === "" ? readInput() : begunInput(silenceMs)).finally(() => clearTimeout(timer));
  const text = isBinary(bytes) ? undefined : textOf(bytes);
  const words: ContentBlock[] = prompt === "" ? [] : [{ type: "text", text: prompt }, ...pictures];
  if (text === undefined)
    return [...words, { type: "resource", resource: { uri: "stdin", blob: bytes.toString("base64") } }];
  if (text.trim() === "") return words;
  if (prompt === "") return [{ type: "text", text: text.trim() }, ...pictures];
  return [...words, { type: "resource", resource: { uri: "stdin", mimeType: "text/plain", text } }];
}

/** More than a tenth is no text. A zero alone is no sign: it ends names of `find -print0`, and a stray one is in many logs. */
function isBinary(bytes: Buffer): boolean {
  const text = textOf(bytes).replaceAll("\0", "");
  return bytes.includes(0) && text.replaceAll(/\ufffd|[^\P{Cc}\s]/gu, "").length <= 0.9 * text.length;
}

/** Standard input beside a prompt, which starts without it when nothing comes. */
async function begunInput(silenceMs: number): Promise<Buffer> {
  const { stdin } = process;
  const silent = AbortSignal.timeout(silenceMs);
  await once(stdin, "readable", { signal: silent }).catch((error: unknown) => {
    if (!silent.aborted) throw error;
  });
  if (!silent.aborted) return readInput();
  stdin.destroy();
  const line = `nothing came on standard input in ${silenceMs / 1_000} s: starting without it.`;
  if (silenceMs > INPUT_NOTE_AFTER_MS) process.stderr.write(`hermes: ${line}\n`);
  return Buffer.alloc(0);
}

/** Rest of a longer input is not read: the model gets less, and some programs print without end. Bytes. */
const MAX_INPUT_BYTES = 32 * 1024 ** 2;

async function readInput(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_INPUT_BYTES) break;
  }
  return Buffer.concat(chunks);
}
