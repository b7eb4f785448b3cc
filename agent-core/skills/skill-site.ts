/** Skills that a web site publishes: one SKILL.md by its address, or the index of Agent Skills Discovery (0.2 and 0.1). */
import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { unzipSync } from "fflate";
import { extract } from "tar-stream";
import * as z from "zod";
import { messageOf } from "../platform/errors.ts";
import { parseJson } from "../platform/json.ts";
import { addressGuard, checkUrl } from "../web/address-guard.ts";
import { guardedFetch } from "../web/guarded-fetch.ts";
import { MAX_FILE_BYTES, nameProblem, SKILL_FILE } from "./skill.ts";
import { isInside } from "./skill-places.ts";

/** Places of the index below a site's address: 0.2, then 0.1. */
const INDEXES = [".well-known/agent-skills/index.json", ".well-known/skills/index.json"];
/** Skills of one site, and files of one archive. */
const MAX_ENTRIES = 200;
/** Downloaded bytes of all skills of a site together. */
const MAX_SITE_BYTES = 50_000_000;
/** Unpacked bytes of one archive: as many as a skill may have. */
const MAX_UNPACKED = 10 * MAX_FILE_BYTES;

const indexSchema = z.object({
  $schema: z.string().exactOptional(),
  skills: z
    .array(
      z.object({
        name: z.string(),
        type: z.string().exactOptional(),
        url: z.string().exactOptional(),
        digest: z.string().exactOptional(),
        /** Version 0.1: paths below the skill's folder beside the index. */
        files: z.array(z.string()).max(MAX_ENTRIES).exactOptional(),
      }),
    )
    .max(MAX_ENTRIES),
});

type Entry = z.infer<typeof indexSchema>["skills"][number];

type Download = (address: string | URL) => Promise<Buffer>;

type Files = readonly (readonly [path: string, bytes: Uint8Array])[];

/**
 * Writes the skills of `address` into `folder`, one folder each. `only`: the skill with this name. Resolves to false when
 * the site has no index. Rejects with an Error in one line for a wrong digest, an unsafe path, and above the limits.
 */
export async function fetchSite(
  address: string,
  { folder, only, signal }: { readonly folder: string; readonly only: string; readonly signal: AbortSignal },
): Promise<boolean> {
  const download = await downloader(address, signal);
  const { pathname } = new URL(address);
  if (pathname.endsWith(".md")) {
    await writeFiles(folder, [[SKILL_FILE, await download(address)]]);
    return true;
  }
  for (const place of INDEXES) {
    const index = pathname.endsWith(".json") ? new URL(address) : new URL(place, address.replace(/\/*$/, "/"));
    const bytes = await download(index).catch(() => undefined);
    signal.throwIfAborted();
    const { data } = indexSchema.safeParse(parseJson(bytes?.toString("utf8") ?? ""));
    if (data === undefined) continue;
    if (data.$schema !== undefined && !/\/discovery\/0\.[12]\./.test(data.$schema)) {
      throw new Error(`${index.href} is an index of another version: ${data.$schema.slice(0, 100)}.`);
    }
    for (const entry of data.skills.filter(({ name }) => only === "" || name === only)) {
      if (nameProblem(entry.name) !== undefined) continue;
      await writeFiles(join(folder, entry.name), await filesOf(entry, index, download));
    }
    return true;
  }
  return false;
}

/** A site on a private network is used when the user names it. No site's index or redirect leads into one. */
async function downloader(address: string, signal: AbortSignal): Promise<Download> {
  let total = 0;
  const { ok: isPublic } = await checkUrl(address, addressGuard(false), signal);
  return async (each) => {
    const url = new URL(each);
    const guard = addressGuard(!isPublic && url.origin === new URL(address).origin);
    const fetched = await guardedFetch(url.href, { guard, signal, maxBytes: MAX_UNPACKED });
    if (!fetched.ok) throw new Error(fetched.text);
    total += fetched.bytes.length;
    if (total > MAX_SITE_BYTES) throw new Error(`The skills of ${address} have more than ${MAX_SITE_BYTES} bytes.`);
    const { host } = new URL(fetched.url);
    if (host !== url.host) throw new Error(`${url.href} redirects to another host, ${host}. Use its address instead.`);
    return fetched.bytes;
  };
}

async function filesOf({ name, type, url, digest, files }: Entry, index: URL, download: Download): Promise<Files> {
  if (files !== undefined) {
    const base = new URL(`${name}/`, index);
    return Promise.all(files.map(async (path) => [path, await download(new URL(path, base))] as const));
  }
  const artifact = new URL(url ?? `${name}/${SKILL_FILE}`, index);
  const bytes = await download(artifact);
  const actual = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  if (actual !== digest?.toLowerCase()) {
    throw new Error(`${artifact.href} does not match the digest in the index of ${index.host}, so it was refused.`);
  }
  if (type === "skill-md") return [[SKILL_FILE, bytes]];
  if (type === "archive") return unpack(bytes, artifact.href);
  return [];
}

/** Files of an archive: gzip by its first bytes, else zip. */
async function unpack(bytes: Buffer, address: string): Promise<Files> {
  try {
    if (bytes.readUInt16BE(0) === 0x1f_8b) {
      return await tarFiles(await promisify(gunzip)(bytes, { maxOutputLength: MAX_UNPACKED }));
    }
    let unpacked = 0;
    const files = unzipSync(bytes, {
      filter({ originalSize }) {
        unpacked += originalSize;
        if (unpacked > MAX_UNPACKED) throw new Error(`it unpacks to more than ${MAX_UNPACKED} bytes`);
        return true;
      },
    });
    return Object.entries(files).filter(([path]) => !path.endsWith("/"));
  } catch (error) {
    throw new Error(`${address} could not be unpacked: ${messageOf(error)}.`);
  }
}

/** Rejects with an Error for links and devices. */
async function tarFiles(tar: Buffer): Promise<Files> {
  const files: [string, Uint8Array][] = [];
  const entries = extract();
  entries.end(tar);
  for await (const entry of entries) {
    const { name, type } = entry.header;
    if (type !== "file" && type !== "directory") throw new Error(`${name} is a link or a device`);
    const content = await buffer(entry);
    if (type === "file") files.push([name, content]);
  }
  return files;
}

/** Paths that leave the folder are an attack. */
async function writeFiles(folder: string, files: Files): Promise<void> {
  if (files.length > MAX_ENTRIES) throw new Error(`It has ${files.length} files; the limit is ${MAX_ENTRIES}.`);
  for (const [path, bytes] of files) {
    const target = join(folder, path);
    if (!isInside(target, folder) || path.includes("\\") || path.startsWith("/")) {
      throw new Error(`The path ${JSON.stringify(path.slice(0, 100))} leads out of the skill's folder.`);
    }
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await writeFile(target, bytes);
  }
}
