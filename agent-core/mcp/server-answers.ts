/**
 * Schemas of a server's answers. Each item of a list is checked separately, so that one invalid tool leaves the others usable.
 */
import * as z from "zod";
import { imageTypeOfBase64 } from "../messages/image-type.ts";
import { soundSchema } from "./server-schema.ts";

/** A value that may be left out. Servers write null for that, or a value of another type. */
function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema
    .nullish()
    .transform((value) => value ?? undefined)
    .catch(undefined);
}

const text = optional(z.string());
const flag = optional(z.boolean());

/** Largest schema. The largest ones of real servers have 30,000 characters. */
const MAX_SCHEMA_CHARS = 100_000;

const serverTool = z.object({
  name: z.string().min(1),
  title: text,
  description: text,
  inputSchema: z
    .unknown()
    .optional()
    .transform(soundSchema)
    .refine((schema) => JSON.stringify(schema).length <= MAX_SCHEMA_CHARS, "it is too large for a request"),
  annotations: optional(z.object({ title: text, readOnlyHint: flag, destructiveHint: flag })),
});
export type ServerTool = z.output<typeof serverTool>;

const serverPrompt = z.object({
  name: z.string().min(1),
  title: text,
  description: text,
  arguments: optional(z.array(z.object({ name: z.string(), required: flag }))),
});
export type ServerPrompt = z.output<typeof serverPrompt>;

const serverResource = z.object({ uri: text, uriTemplate: text, name: text, description: text, mimeType: text });
export type ServerResource = z.output<typeof serverResource>;

/** Page of a list; its items are under the name of the list. */
export const listPage = z.looseObject({ nextCursor: text });

/** Maximum number of pages of one list: a server's cursor may never end. */
const MAX_PAGES = 64;

/** Item that cannot be used, and the reason in one line. */
export type ListProblem = { readonly name: string; readonly reason: string };

export type ServerList<Item> = {
  readonly items: readonly Item[];
  /** The invalid items. */
  readonly problems: readonly ListProblem[];
};

/** Reads all pages of a list. Of items with one name, the last counts. `request` sends one request for the page after `cursor`. */
async function readList<Item>(
  key: string,
  schema: z.ZodType<Item>,
  request: (cursor: string | undefined, page: typeof listPage) => Promise<z.output<typeof listPage>>,
): Promise<ServerList<Item>> {
  const pages: unknown[] = [];
  const cursors = new Set<string | undefined>();
  for (let cursor: string | undefined; !cursors.has(cursor) && cursors.size < MAX_PAGES; ) {
    cursors.add(cursor);
    const page = await request(cursor, listPage);
    pages.push(page[key] ?? page["content"]);
    if (page.nextCursor === undefined) break;
    cursor = page.nextCursor;
  }
  const items: Item[] = [];
  const problems: ListProblem[] = [];
  // Servers also write a list alone, or an object of the items by their names.
  const found = pages.flatMap((raw): unknown[] => {
    const named = Object.entries(Object(raw)).filter(([, item]) => typeof item === "object");
    return Array.isArray(raw) ? raw : named.map(([name, item]) => ({ name, ...Object(item) }));
  });
  for (const each of new Map(
    found.map((item) => [JSON.stringify(identity.safeParse(item).data ?? item), item]),
  ).values()) {
    const parsed = schema.safeParse(each);
    const faults = parsed.error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`) ?? [];
    if (parsed.success) items.push(parsed.data);
    else problems.push({ name: nameOf(each), reason: faults.join("; ") });
  }
  return { items, problems };
}

const identity = z.object({
  name: z.string().optional(),
  uri: z.string().optional(),
  uriTemplate: z.string().optional(),
});

function nameOf(item: unknown): string {
  const named = z.object({ name: z.string() }).safeParse(item);
  return named.success ? named.data.name.slice(0, 100) : "an item without a name";
}

type Request = Parameters<typeof readList>[2];

export const listTools = (request: Request): Promise<ServerList<ServerTool>> => readList("tools", serverTool, request);
export const listPrompts = (request: Request): Promise<ServerList<ServerPrompt>> =>
  readList("prompts", serverPrompt, request);
export const listResources = (request: Request): Promise<ServerList<ServerResource>> =>
  readList("resources", serverResource, request);
export const listTemplates = (request: Request): Promise<ServerList<ServerResource>> =>
  readList("resourceTemplates", serverResource, request);

/** Servers also write one part alone, or its text. */
function asParts(content: unknown): readonly unknown[] {
  if (Array.isArray(content)) return content.filter((part) => part !== null);
  if (content === null || content === undefined) return [];
  return [content];
}

/** Result of a tool call. The parts are read one by one. */
export const toolAnswer = z.looseObject({
  content: z.unknown().optional().transform(asParts),
  structuredContent: optional(z.unknown()),
  isError: flag,
});
export type ToolAnswer = z.output<typeof toolAnswer>;

/** Prefix of base64 in a data URL, with its type. */
const DATA_URL = /^data:([\w/+.-]*)[^,]*;base64,/;

const resourceContents = z.object({
  uri: z.string().catch(""),
  mimeType: text,
  text,
  blob: text.transform((blob) => blob?.replace(DATA_URL, "")),
});

export const resourceAnswer = z.looseObject({
  contents: z.unknown().optional().transform(asParts).pipe(z.array(resourceContents)),
});
export type ResourceAnswer = z.output<typeof resourceAnswer>;

/** A picture or sound. Servers also write it as a data URL, without its type, or as the APIs of models have it. */
const mediaPart = z
  .object({
    type: z.enum(["image", "audio", "image_url"]),
    data: text,
    mimeType: text,
    source: optional(z.object({ data: z.string(), media_type: text })),
    image_url: optional(z.union([z.string(), z.object({ url: z.string() }).transform(({ url }) => url)])),
  })
  .transform(({ type, mimeType, source, image_url: url, data = source?.data ?? url ?? "" }) => {
    const [prefix = "", named] = DATA_URL.exec(data) ?? [];
    const base64 = data.slice(prefix.length);
    const found = mimeType ?? source?.media_type ?? (named || undefined) ?? imageTypeOfBase64(base64) ?? type;
    return { type: type === "audio" ? type : ("image" as const), data: base64, mimeType: found };
  })
  .refine(({ data }) => /^[\w+/=\s-]+$/.test(data), "it has no base64");

/** Part of a tool's result or of a prompt. */
export const answerPart = z.union([
  z.object({ type: z.literal("text"), text: z.string() }),
  mediaPart,
  z.object({
    type: z.literal("resource_link"),
    uri: z.string(),
    name: text,
    description: text,
    mimeType: text,
  }),
  z.object({ type: z.literal("resource"), resource: resourceContents }),
]);

export const promptAnswer = z.looseObject({
  messages: z.array(z.object({ role: text, content: z.unknown().optional().transform(asParts) })),
});
export type PromptAnswer = z.output<typeof promptAnswer>;
