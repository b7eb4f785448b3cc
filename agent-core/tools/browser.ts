/** Tools for the session's browser. The browser is loaded and started by the first `browser_navigate`. */
import * as z from "zod";
import type { Effect } from "../approval/decision.ts";
import type { Action, Browser, Report } from "../browser/browser.ts";
import { isLoopback, pageAddress, siteOf } from "../browser/page-address.ts";
import { messageOf } from "../platform/errors.ts";
import { refuseWithoutVision, showPicture } from "./show-picture.ts";
import { shortTitle } from "./shown-path.ts";
import {
  defineTool,
  type ShellView,
  type Tool,
  type ToolContext,
  type ToolDefinition,
  type ToolResult,
} from "./tool.ts";

const nothing = z.object({});
const ref = z.string().min(1);
const dialog = z
  .string()
  .optional()
  .describe('Answers a dialog it opens: "accept", or text for a prompt. Default: dismissed');

const READ: Effect = { kind: "browse", action: "read", site: "", isLocal: false, sent: [] };

/** Clicks and keys are judged for the site of the open page. Without a page the call fails, which needs no permission. */
function acting(page: string | undefined, ...sent: readonly string[]): Effect {
  if (page === undefined) return READ;
  return {
    kind: "browse",
    action: "act",
    site: siteOf(page),
    isLocal: URL.canParse(page) && isLoopback(new URL(page)),
    sent,
  };
}

function opening(text: string): Effect {
  const address = pageAddress(text);
  if (!address.ok) return READ; // the call fails
  const { url } = address;
  return { kind: "browse", action: "open", site: url.host, isLocal: isLoopback(url), sent: [url.href] };
}

/** Runs a call of a tool on the browser. An error of the page is a result; a cancelled call rejects. */
async function use(
  context: ToolContext,
  work: (browser: Browser) => Promise<Report & Pick<ToolResult, "images">>,
  canStart = false,
): Promise<ToolResult> {
  const { browser, signal } = context;
  if (browser === undefined) return { ok: false, text: "There is no browser outside a session." };
  try {
    const { ok, text, picture, images } = await browser.use(work, canStart);
    return { ok, text, ...(picture && { media: [{ kind: "image" as const, ...picture }] }), ...(images && { images }) };
  } catch (error) {
    signal.throwIfAborted();
    return { ok: false, text: messageOf(error) };
  }
}

type PageTool<Schema extends z.ZodType> = Pick<ToolDefinition<Schema>, "name" | "description" | "input" | "title"> & {
  readonly largeOutput?: boolean;
  /** Default: it only reads the page. */
  effect?(input: z.infer<Schema>, cwd: string, shell: ShellView): Effect;
  run(input: z.infer<Schema>, context: ToolContext): Promise<ToolResult>;
};

function pageTool<Schema extends z.ZodType>(definition: PageTool<Schema>): Tool {
  const reads = { kind: "read", readOnly: true, effect: () => READ } as const;
  const changes = { kind: "other", readOnly: false } as const;
  const own = { toolset: "browser", need: "rare" } as const;
  return defineTool<Schema>({ ...own, ...reads, ...definition, ...(definition.effect && changes) });
}

/** Actions that change the page were judged for a site: on another one they are refused. */
function act(context: ToolContext, action: Action, dialog?: string): Promise<ToolResult> {
  const isLooking = action.kind === "scroll" || action.kind === "back";
  const site = isLooking ? undefined : siteOf(context.judgedPage ?? "");
  return use(context, (browser) => browser.act(action, { dialog, site, signal: context.signal }));
}

async function look(
  { question }: { readonly question?: string | undefined },
  context: ToolContext,
): Promise<ToolResult> {
  const tool = "browser_vision";
  const advice = "The user can set auxiliary.vision in config.yaml; browser_snapshot reads the page as text.";
  const blind = refuseWithoutVision(tool, context, advice);
  if (blind !== undefined) return blind;
  const asked = question === undefined ? "" : ` Answer from it: ${question}`;
  return use(context, async (browser) => {
    const picture = await browser.picture();
    const about = {
      tool,
      seen: `The screenshot of the page in view follows.${asked}`,
      question: question ?? "Describe what this page shows.",
      source: ["web-page", browser.url] as const,
    };
    const looked = await showPicture(picture, about, context);
    return looked.ok ? { ...looked, picture } : looked;
  });
}

export const tools: readonly Tool[] = [
  pageTool({
    name: "browser_navigate",
    description: "Open a page in a real browser, also a local dev server. Returns what is in view, with refs like @e1.",
    input: z.object({ url: z.string().min(1) }),
    title: ({ url }) => shortTitle(`Open ${url}`),
    effect: ({ url }) => opening(url),
    run: async ({ url }, context) => {
      const address = pageAddress(url);
      if (!address.ok) return address;
      return use(context, (browser) => browser.navigate(address.url, context.signal), true);
    },
  }),
  pageTool({
    name: "browser_snapshot",
    largeOutput: true,
    description: "Read the whole page as a tree with refs. A ref is valid until the next navigation.",
    input: z.object({ compact: z.boolean().optional().describe("Only headings and elements with refs") }),
    title: () => "Read the page",
    run: ({ compact = false }, context) => use(context, (browser) => browser.snapshot(compact)),
  }),
  pageTool({
    name: "browser_click",
    description: "Click the element with this ref.",
    input: z.object({ ref, dialog }),
    title: (input) => shortTitle(`Click ${input.ref}`),
    effect: (_input, _cwd, { page }) => acting(page),
    run: ({ ref: target, dialog: answer }, context) => act(context, { kind: "click", ref: target }, answer),
  }),
  pageTool({
    name: "browser_type",
    description: "Replace the text of a field, or choose the option of a list.",
    input: z.object({ ref, text: z.string(), submit: z.boolean().optional().describe("Press Enter afterwards") }),
    title: ({ text, ref: target }) => shortTitle(`Type ${JSON.stringify(text)} into ${target}`),
    effect: ({ text }, _cwd, { page }) => acting(page, text),
    run: ({ ref: target, text, submit = false }, context) => act(context, { kind: "type", ref: target, text, submit }),
  }),
  pageTool({
    name: "browser_press",
    description: "Press a key in the focused element: Enter, Escape, ArrowDown, Control+A.",
    input: z.object({ key: z.string().min(1), dialog }),
    title: ({ key }) => shortTitle(`Press ${key}`),
    effect: ({ key }, _cwd, { page }) => acting(page, key),
    run: ({ key, dialog: answer }, context) => act(context, { kind: "press", key }, answer),
  }),
  pageTool({
    name: "browser_scroll",
    description: "Scroll by a view, or to the element with this ref.",
    input: z.object({ direction: z.enum(["up", "down"]).optional(), ref: ref.optional() }),
    title: ({ direction = "down", ref: target }) =>
      target === undefined ? `Scroll ${direction}` : `Scroll to ${target}`,
    run: ({ direction, ref: target }, context) =>
      act(context, { kind: "scroll", ref: target, isUp: direction === "up" }),
  }),
  pageTool({
    name: "browser_back",
    description: "Return to the earlier page, or close a new tab.",
    input: nothing,
    title: () => "Go back",
    run: (_input, context) => act(context, { kind: "back" }),
  }),
  pageTool({
    name: "browser_console",
    description: "Read the page's console messages and JavaScript errors.",
    input: z.object({ clear: z.boolean().optional() }),
    title: () => "Read the console",
    run: ({ clear = false }, context) => use(context, async (browser) => browser.console(clear)),
  }),
  pageTool({
    name: "browser_get_images",
    description: "List the page's images with address, alternative text and size.",
    input: nothing,
    title: () => "List the images",
    run: (_input, context) => use(context, (browser) => browser.images()),
  }),
  pageTool({
    name: "browser_vision",
    description: "Look at a screenshot of the page in view.",
    input: z.object({ question: z.string().optional() }),
    title: ({ question }) => shortTitle(`Look at the page${question === undefined ? "" : `: ${question}`}`),
    run: look,
  }),
  pageTool({
    name: "browser_close",
    description: "End the browser with its cookies and pages.",
    input: nothing,
    title: () => "Close the browser",
    run: async (_input, { browser }) => {
      const hasRun = await browser?.end();
      return { ok: true, text: hasRun ? "The browser was closed." : "No browser was running." };
    },
  }),
];
