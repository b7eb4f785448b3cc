/** Results of a server: text and pictures for the model, wrapped as data, and pictures and sounds for people. */
import { isDeepStrictEqual } from "node:util";
import { messageOf } from "../platform/errors.ts";
import { parseJson } from "../platform/json.ts";
import { wrapData } from "../prompt/injection-scan.ts";
import { spillPath, writeSpillFile } from "../sessions/session-files.ts";
import { limitResult } from "../tools/result-limit.ts";
import type { ToolContext, ToolResult } from "../tools/tool.ts";
import type { CheckedPicture } from "../web/picture.ts";
import type { Picture } from "../web/web-access.ts";
import { answerPart, type PromptAnswer, type ResourceAnswer, type ToolAnswer } from "./server-answers.ts";

/** Limit of a result in the conversation, as in the original Hermes Agent. A file has the rest. Characters. */
const RESULT_CHARS = 50_000;
/** Larger pictures and sounds are stored in a file, because they would fill the client's memory. Characters of base64. */
const MAX_MEDIA_CHARS = 8_000_000;

type Place = Pick<ToolContext, "callId" | "spillFolder" | "signal">;
type Media = NonNullable<ToolResult["media"]>[number];
/** `image`: picture that models accept. */
type ShownPart = { readonly text: string; readonly media?: Media; readonly image?: Picture };

type CallAnswer = Pick<ToolAnswer, "content"> & Partial<ToolAnswer>;

/** The result of a call. `origin` names the server and the tool. */
export async function callResult(answer: CallAnswer, origin: string, place: Place): Promise<ToolResult> {
  const { content, structuredContent, isError = false, _meta, ...others } = answer;
  const parts = await Promise.all(content.map((raw, index) => shownPart(raw, place, index)));
  const texts = parts.map(({ text }) => text);
  if (structuredContent !== undefined && !isRepeated(structuredContent, texts)) {
    texts.push(JSON.stringify(structuredContent));
  }
  // Servers of older versions answer in a field of their own.
  if (texts.length === 0 && Object.keys(others).length > 0) texts.push(JSON.stringify(others));
  const text = texts.length === 0 ? "(The tool returned nothing.)" : texts.join("\n\n");
  return { ...(await dataResult(text, origin, place)), ok: !isError, ...mediaOf(parts) };
}

/**
 * Servers repeat the structured part as text for clients that do not read it: as JSON, or its only value as it is, such as
 * `{ content }` of server-filesystem and `{ result }` of FastMCP; a list as one text for each item.
 */
function isRepeated(structured: unknown, texts: readonly string[]): boolean {
  const says = (value: unknown, text: string): boolean => text === value || isDeepStrictEqual(parseJson(text), value);
  const [only, ...others]: readonly unknown[] = typeof structured === "object" ? Object.values(structured ?? {}) : [];
  const values = others.length > 0 ? [structured] : [structured, only];
  if (texts.some((text) => values.some((value) => says(value, text)))) return true;
  const isList = others.length === 0 && Array.isArray(only) && only.length === texts.length;
  return isList && only.every((item, index) => says(item, texts[index] ?? ""));
}

export function resourceResult({ contents }: ResourceAnswer, origin: string, place: Place): Promise<ToolResult> {
  return callResult({ content: contents.map((resource) => ({ type: "resource", resource })) }, origin, place);
}

/** Pictures that models accept are for the model too. */
function mediaOf(parts: readonly ShownPart[]): Pick<ToolResult, "images" | "media"> {
  const images = parts.flatMap(({ image }) => (image === undefined ? [] : [image]));
  const media = parts.flatMap((part) => (part.media === undefined ? [] : [part.media]));
  return { ...(images.length > 0 && { images }), ...(media.length > 0 && { media }) };
}

/** Text of a server for the model: cut to the limit, then wrapped as data. */
export async function dataResult(text: string, origin: string, place: Place): Promise<ToolResult> {
  const limited = await limitResult(text, { ...place, writeSpill: writeSpillFile }, RESULT_CHARS);
  return { ok: true, text: wrapData("mcp-result", origin, limited) };
}

/** Text of a prompt. Pictures and sounds are left out. */
export function promptText({ messages }: PromptAnswer): string {
  return messages
    .map(({ role, content }) => {
      const text = content.map(partText).join("\n\n");
      return role === "assistant" ? `Example of an answer:\n${text}` : text;
    })
    .join("\n\n");
}

async function shownPart(raw: unknown, place: Place, index: number): Promise<ShownPart> {
  const part = answerPart.safeParse(raw).data;
  switch (part?.type) {
    case undefined:
    case "text":
    case "resource_link":
      return { text: partText(raw) };
    case "image":
    case "audio":
      return mediaPart({ kind: part.type, ...part }, place, index);
    case "resource": {
      const { uri, mimeType = "", text, blob } = part.resource;
      if (text !== undefined) return { text: `Resource ${uri}:\n${text}` };
      if (blob === undefined) return { text: `Resource ${uri} is empty.` };
      const kind = /^(image|audio)\//.exec(mimeType)?.[1];
      if (kind === "image" || kind === "audio") return mediaPart({ kind, mimeType, data: blob }, place, index);
      return { text: `Resource ${uri} (${mimeType || "binary"}): ${await stored(blob, place, index)}` };
    }
  }
}

async function mediaPart({ kind, mimeType, data }: Media, place: Place, index: number): Promise<ShownPart> {
  const size = `${kind}, ${mimeType}, ${Math.ceil((data.length * 3) / 4 / 1_024)} kB`;
  const file = data.length > MAX_MEDIA_CHARS ? await stored(data, place, index) : undefined;
  const fitted = kind === "image" ? await fittedPicture(data, place.signal) : undefined;
  if (fitted?.ok) {
    const { picture: image, width, height, scaledFrom } = fitted;
    const scaled = scaledFrom === undefined ? [] : [`scaled down from ${scaledFrom} to ${width} × ${height}`];
    return { text: `[${[size, ...scaled, ...(file === undefined ? [] : [file])].join("; ")}]`, image };
  }
  if (file !== undefined) return { text: `[${size}: ${file}]` };
  return { text: `[${size}: the user sees it; you do not]`, media: { kind, mimeType, data } };
}

/** Providers refuse other formats and larger pictures, in this request and in all later ones. */
async function fittedPicture(base64: string, signal: AbortSignal): Promise<CheckedPicture> {
  const { fitPicture } = await import("../web/picture.ts");
  return fitPicture(Buffer.from(base64, "base64"), "it", signal);
}

/** An unknown part is shown as the server sent it. */
function partText(raw: unknown): string {
  const part = answerPart.safeParse(raw).data;
  if (part === undefined) return typeof raw === "string" ? raw : JSON.stringify(raw);
  if (part.type === "text") return part.text;
  if (part.type === "resource") return part.resource.text ?? `[resource ${part.resource.uri}]`;
  if (part.type !== "resource_link") return `[${part.type}, ${part.mimeType}]`;
  const { uri, name, description, mimeType } = part;
  const facts = [name, mimeType, description].filter((fact) => fact !== undefined);
  return `[resource ${uri}${facts.length > 0 ? `: ${facts.join(", ")}` : ""}]`;
}

/** Phrase with the path of the file that holds the bytes. */
async function stored(base64: string, { callId, spillFolder }: Place, index: number): Promise<string> {
  const path = spillPath({ callId, spillFolder }, "mcp", `-${index}.bin`);
  return writeSpillFile(path, Buffer.from(base64, "base64")).then(
    () => `stored in ${path}`,
    (error: unknown) => `could not be stored: ${messageOf(error)}`,
  );
}
