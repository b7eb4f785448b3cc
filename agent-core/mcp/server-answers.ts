/**
 * Schemas of a server's answers. Each item of a list is checked separately, so that one invalid tool leaves the others
 * usable.
 */
import * as z from "zod";

const hint = z.boolean().optional().catch(undefined);

const serverTool = z.object({
  name: z.string().min(1),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  inputSchema: z.looseObject({ type: z.literal("object") }),
  annotations: z
    .object({ title: z.string().optional().catch(undefined), readOnlyHint: hint, destructiveHint: hint })
    .optional()
    .catch(undefined),
});
export type ServerTool = z.output<typeof serverTool>;

const serverPrompt = z.object({
  name: z.string().min(1),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  arguments: z
    .array(z.object({ name: z.string(), required: z.boolean().optional() }))
    .optional()
    .catch(undefined),
});
export type ServerPrompt = z.output<typeof serverPrompt>;

const serverResource = z.object({
  uri: z.string().optional(),
  uriTemplate: z.string().optional(),
  name: z.string(),
  description: z.string().optional().catch(undefined),
  mimeType: z.string().optional().catch(undefined),
});
export type ServerResource = z.output<typeof serverResource>;

/** Page of a list; its items are under the name of the list. */
export const listPage = z.looseObject({ nextCursor: z.string().optional() });

/** Maximum number of pages of one list: a server's cursor may never end. */
const MAX_PAGES = 64;

/** Item that cannot be used, and the reason in one line. */
export type ListProblem = { readonly name: string; readonly reason: string };

export type ServerList<Item> = {
  readonly items: readonly Item[];
  /** The invalid items. */
  readonly problems: readonly ListProblem[];
};

/** Reads all pages of a list. `request` sends one request for the page after `cursor`. */
async function readList<Item>(
  key: string,
  schema: z.ZodType<Item>,
  request: (cursor: string | undefined, page: typeof listPage) => Promise<z.output<typeof listPage>>,
): Promise<ServerList<Item>> {
  const items: Item[] = [];
  const problems: ListProblem[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const page = await request(cursor, listPage);
    const raw = page[key];
    for (const each of Array.isArray(raw) ? raw : []) {
      const parsed = schema.safeParse(each);
      if (parsed.success) items.push(parsed.data);
      else problems.push({ name: nameOf(each), reason: explain(parsed.error) });
    }
    if (page.nextCursor === undefined || page.nextCursor === cursor) break;
    cursor = page.nextCursor;
  }
  return { items, problems };
}

function explain({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
}

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

/** Result of a tool call. The parts are read one by one. */
export const toolAnswer = z.looseObject({
  content: z.array(z.unknown()).catch([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional().catch(undefined),
});
export type ToolAnswer = z.output<typeof toolAnswer>;

const resourceContents = z.object({
  uri: z.string().catch(""),
  mimeType: z.string().optional(),
  text: z.string().optional(),
  blob: z.string().optional(),
});

/** Contents of a resource. */
export const resourceAnswer = z.looseObject({ contents: z.array(resourceContents) });
export type ResourceAnswer = z.output<typeof resourceAnswer>;

/** Part of a tool's result or of a prompt. */
export const answerPart = z.union([
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.enum(["image", "audio"]), data: z.string(), mimeType: z.string() }),
  z.object({
    type: z.literal("resource_link"),
    uri: z.string(),
    name: z.string().optional(),
    description: z.string().optional(),
    mimeType: z.string().optional(),
  }),
  z.object({ type: z.literal("resource"), resource: resourceContents }),
]);
export type AnswerPart = z.output<typeof answerPart>;

/** Messages of a prompt. */
export const promptAnswer = z.looseObject({
  messages: z.array(z.object({ role: z.string(), content: answerPart })),
});
export type PromptAnswer = z.output<typeof promptAnswer>;
