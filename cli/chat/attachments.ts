/** Content of a prompt: its words, files after `@`, and pictures. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { ContentBlock } from "@zed-industries/agent-client-protocol";
import { UsageError } from "../../agent-core/platform/errors.ts";

const PICTURES: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
};

/** The words, a link for each existing file after `@`, and the pictures (paths). Throws a UsageError for no picture. */
export function promptBlocks(text: string, cwd: string, images: readonly string[] = []): ContentBlock[] {
  const mentioned = [...text.matchAll(/(?:^|\s)@(\S+)/g)].flatMap(([, name = ""]) => {
    const path = resolve(cwd, name.replace(/[.,;:!?)]+$/, ""));
    return existsSync(path) ? [path] : [];
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
  const mimeType = PICTURES[extname(path).toLowerCase()];
  if (mimeType === undefined) throw new UsageError(`${path} is no picture: ${Object.keys(PICTURES).join(", ")} are.`);
  if (!existsSync(path)) throw new UsageError(`the picture ${path} does not exist`);
  return { type: "image", mimeType, data: readFileSync(path).toString("base64") };
}
