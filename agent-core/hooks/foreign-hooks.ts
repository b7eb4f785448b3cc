/**
 * Hooks that a workspace brings along for other agents: `.claude/settings.json`, `.claude/settings.local.json` and
 * `.github/hooks/*.json`. Each needs the user's consent to its exact content, and can only tighten.
 */
import { readdir } from "node:fs/promises";
import { isAbsolute, join, relative } from "node:path";
import * as z from "zod";
import { contentHash, namedScripts } from "../approval/consents.ts";
import { readByItself } from "../approval/workspace-file.ts";
import { parseJsonc } from "../platform/jsonc.ts";
import { type CommandHook, type CommandPlace, matcherOf, runHookCommand, wholeOf } from "./command-hook.ts";
import {
  coversTool,
  type ForeignCall,
  type ForeignFormat,
  foreignCalls,
  foreignEvent,
  foreignPayload,
  ownInput,
  permissionRule,
} from "./foreign-calls.ts";
import { CLAUDE_FILES, COPILOT_FOLDER, type Hook, type HookEvent, type HookPayload, type HookVerdict } from "./hook.ts";
import { hookVerdict } from "./hook-answer.ts";

/** Defaults of Copilot and of Claude Code, whose hooks run test suites. Seconds. */
const DEFAULT_TIMEOUT_SECONDS = { copilot: 30, claude: 600 } as const;
/** Longest timeout: some files give milliseconds. Seconds. */
const MAX_TIMEOUT_SECONDS = 3_600;

/** Fields that say something to people, and `once`, which Claude Code obeys in skills alone. */
const REMARKS = /^(?:[_$/].*|name|id|description|comment|statusMessage|once|rewake\w+)$/;
/** Shells that a hook can name, with their options. */
const SHELLS = {
  bash: "bash -c",
  powershell: `${process.platform === "win32" ? "powershell" : "pwsh"} -NoProfile -Command`,
} as const;

const text = z.string().min(1).optional();
const seconds = z.coerce.number().positive().optional().catch(undefined);

/** A guard whose condition cannot be read runs for each call. */
const condition = (isReadable: (written: string) => boolean) =>
  z.string().refine(isReadable).optional().catch(undefined);

const handlerSchema = z.looseObject({
  type: z.string().default("command"),
  matcher: condition((pattern) => pattern === "*" || wholeOf(pattern) !== undefined),
  if: condition((rule) => permissionRule(rule, "/") !== undefined),
  command: text,
  args: z.array(z.coerce.string()).optional(),
  shell: z.enum(["bash", "powershell"]).optional(),
  async: z.boolean().default(false),
  asyncRewake: z.boolean().default(false),
  bash: text,
  powershell: text,
  linux: text,
  osx: text,
  windows: text,
  cwd: text,
  env: z.record(z.string(), z.coerce.string()).default({}),
  timeout: seconds,
  timeoutSec: seconds,
});

const entrySchema = z.looseObject({ hooks: z.unknown().optional() });

const fileSchema = z.looseObject({
  disableAllHooks: z.boolean().optional().catch(undefined),
  hooks: z.record(z.string(), z.unknown()).nullish(),
  permissions: z
    .looseObject({ deny: z.array(z.unknown()).optional(), ask: z.array(z.unknown()).optional() })
    .optional()
    .catch(undefined),
});

type Handler = z.infer<typeof handlerSchema>;

/** A hook of a workspace's file. */
export type ForeignHook = CommandHook & {
  /** Relative to the workspace, for display. */
  readonly source: string;
  /** Absolute. */
  readonly file: string;
  readonly eventName: string;
  readonly format: ForeignFormat;
  /** Rule that selects calls; undefined for all that the matcher covers. */
  readonly rule: string | undefined;
  readonly isBackground: boolean;
  readonly env: Readonly<Record<string, string>>;
  /** Line or words of the file, as no shell has quoted them. */
  readonly words: readonly string[];
  /** Folder of the command, absolute. */
  readonly folder: string;
};

export type ForeignHooks = {
  readonly hooks: readonly ForeignHook[];
  /** One line for each file or entry that cannot be used in full. */
  readonly problems: readonly string[];
  /** One line for each file with rules that have no effect here. */
  readonly ignored: readonly string[];
  /** The file switches hooks off. Undefined: it does not say. */
  readonly isOff?: boolean | undefined;
};

/** Reads the files of a workspace that the user trusts. */
export async function readForeignHooks(workspace: string): Promise<ForeignHooks> {
  const names = await readdir(join(workspace, COPILOT_FOLDER)).catch(() => []);
  const further = names.filter((name) => name.endsWith(".json")).toSorted((one, other) => (one < other ? -1 : 1));
  const claude = CLAUDE_FILES.map((source) => readForeignFile(workspace, source));
  // The local file has the last word on both, as in Claude Code.
  const isOff = claude.findLast((file) => file.isOff !== undefined)?.isOff;
  const copilot = further.map((name) => readForeignFile(workspace, `${COPILOT_FOLDER}/${name}`));
  const files = [...claude.map((file) => ({ ...file, isOff })), ...copilot];
  return {
    hooks: files.flatMap((file) => (file.isOff === true ? [] : file.hooks)),
    problems: files.flatMap((file) => (file.isOff === true ? [] : file.problems)),
    ignored: files.flatMap(({ ignored }) => ignored),
  };
}

const NOTHING: ForeignHooks = { hooks: [], problems: [], ignored: [] };

function readForeignFile(workspace: string, source: string): ForeignHooks {
  const file = join(workspace, source);
  const read = readByItself(file, { within: [workspace] });
  if (!read.ok) {
    const problem = `${source}: its hooks are not used, because ${read.reason}.`;
    return { ...NOTHING, problems: read.reason === undefined ? [] : [problem] };
  }
  const parsed = fileSchema.safeParse(parseJsonc(read.text));
  if (!parsed.success) {
    const where = parsed.error.issues[0]?.path.join(".") || "its beginning";
    return { ...NOTHING, problems: [`${source}: its hooks are not used, because the file is not valid at ${where}.`] };
  }
  const { deny = [], ask = [] } = parsed.data.permissions ?? {};
  const ignored =
    deny.length + ask.length === 0
      ? []
      : [`${source}: its permissions have no effect here. Hermes asks by its own rules.`];
  const made = Object.entries(parsed.data.hooks ?? {}).flatMap(([eventName, entries]) =>
    [entries]
      .flat()
      .flatMap(handlersOf)
      .map((found) => hookOf({ ...found, eventName, source, file }, workspace)),
  );
  return {
    hooks: made.flatMap(({ hook = [] }) => hook),
    problems: [...new Set(made.flatMap(({ problem = [] }) => problem))],
    ignored,
    isOff: parsed.data.disableAllHooks,
  };
}

type Found = Pick<ForeignHook, "eventName" | "source" | "file"> & { readonly handler: unknown };

/** The hook, and one line when it cannot be used in full. */
function hookOf({ handler, ...found }: Found, workspace: string): { hook?: ForeignHook; problem?: string } {
  const { eventName, source } = found;
  const known = foreignEvent(eventName);
  if (known === undefined) return { problem: `${source}: hooks for ${eventName} have no effect in this version.` };
  const parsed = handlerSchema.safeParse(handler);
  const where = parsed.error?.issues[0]?.path.join(".");
  const problem = parsed.success ? problemOf(parsed.data, known.event) : `its ${where || "entry"} is not valid`;
  const line = parsed.success ? lineOf(parsed.data) : undefined;
  const about = `${source}: a hook for ${eventName}`;
  if (!parsed.success || line === undefined || problem !== undefined)
    return { problem: `${about} is not used, because ${problem ?? "it has no command for this system"}.` };
  const { matcher, if: rule, env, cwd = ".", timeoutSec, timeout = timeoutSec } = parsed.data;
  const isBackground = parsed.data.async || parsed.data.asyncRewake;
  const hook = {
    ...found,
    ...known,
    matcher: matcher === "*" ? undefined : matcher,
    rule,
    isBackground,
    command: commandOf(parsed.data, line),
    words: [line, ...(parsed.data.args ?? [])],
    env,
    folder: isAbsolute(cwd) ? cwd : join(workspace, cwd),
    timeoutSeconds: Math.min(timeout ?? DEFAULT_TIMEOUT_SECONDS[known.format], MAX_TIMEOUT_SECONDS),
    failClosed: known.event === "pre_tool_call" && !isBackground,
  };
  const isRead = (key: string): boolean =>
    REMARKS.test(key) || (key in handlerSchema.shape && parsed.data[key] !== undefined);
  const unread = Object.keys(parsed.data).filter((key) => !isRead(key));
  if (unread.length === 0) return { hook };
  return { hook, problem: `${about} runs without its "${unread.join('", "')}", which Hermes does not understand.` };
}

/** Reason why a valid handler is not used. */
function problemOf(handler: Handler, event: HookEvent): string | undefined {
  if (handler.type !== "command") return `Hermes runs commands, and its type is ${handler.type}`;
  const isElsewhere = handler.if !== undefined && !TOOL_EVENTS.has(event);
  return isElsewhere ? 'its "if" selects tool calls, and this event has none' : undefined;
}

const TOOL_EVENTS: ReadonlySet<HookEvent> = new Set(["pre_tool_call", "post_tool_call", "pre_approval_request"]);

/** The handlers of a group with the group's own fields, or a handler alone. Null and an empty text stand for nothing. */
function handlersOf(entry: unknown) {
  const { hooks = [{}], ...group } = entrySchema.safeParse(entry).data ?? { hooks: entry };
  return [hooks].flat().flatMap((own) => {
    if (own === null || own === "") return [];
    if (typeof own !== "object") return { handler: own };
    const given = Object.entries({ ...group, ...own }).filter(([, value]) => value !== null && value !== "");
    return { handler: Object.fromEntries(given) };
  });
}

/** In Claude Code a pattern is a list of names, or an expression that some part of a name matches. */
function foreignMatcher(matcher: string | undefined): (name: string) => boolean {
  if (matcher === undefined) return () => true;
  const isList = /^[\w\s,|-]+$/.test(matcher);
  return matcherOf(isList ? matcher.trim().replaceAll(/\s*[,|]\s*/g, "|") : `.*(?:${matcher}).*`);
}

function commandOf({ args, shell }: Handler, line: string): string {
  if (args !== undefined) return [line, ...args].map((word) => quoted(word, true)).join(" ");
  if (shell === undefined) return line;
  // PowerShell reads a variable of the environment under this name alone.
  const own = shell === "bash" ? line : line.replaceAll(/(?<=\$\{)(?=CLAUDE_PROJECT_DIR\})/g, "env:");
  return `${SHELLS[shell]} ${quoted(own, false)}`;
}

function lineOf({ command, bash, powershell, linux, osx, windows }: Handler): string | undefined {
  if (process.platform === "win32") return windows ?? powershell ?? command;
  return (process.platform === "darwin" ? osx : linux) ?? bash ?? command;
}

/** A word as the system's shell takes it whole. `isFilled`: but for the one variable that Claude Code replaces in words. */
function quoted(word: string, isFilled: boolean): string {
  if (process.platform === "win32") {
    const plain = word.replaceAll(/(\\*)"/g, '$1$1\\"');
    return `"${isFilled ? plain.replaceAll(/\$\{(CLAUDE_PROJECT_DIR)\}/g, "%$1%") : plain}"`;
  }
  return `"${word.replaceAll(isFilled ? /[\\"`]|\$(?!\{CLAUDE_PROJECT_DIR\})/g : /[\\"`$]/g, "\\$&")}"`;
}

/** Any variable and any answer of a command may be the workspace's folder. */
const FILLED = /(["']?)(?:\$\{[^{}]*\}|\$\([^()]*\)|\$(?:env:)?\w+|%\w+%)\1/gi;
const FOLDER = "\0";
/** Words of a line with their quotes, and those of a line between quotes. */
const SPLITS = [/(?:"[^"]*"|'[^']*'|\\.|[^\s"'`;|&<>()=\\])+/g, /[^\s"'`;|&<>()=]+/g];

function scriptsOf({ words, folder }: ForeignHook, workspace: string): Readonly<Record<string, string>> {
  const lines = [words, words.map((word) => word.replaceAll(FILLED, FOLDER))];
  const parts = lines.flatMap((of) => [of, ...SPLITS.map((split) => of.flatMap((line) => line.match(split) ?? []))]);
  const plain = parts
    .flat()
    .map((word) => word.replaceAll(/["']|\\(?=[^\w.])/g, "").replaceAll(FOLDER, () => workspace));
  return namedScripts(plain, folder, workspace);
}

/** Hashes of a hook: of its entry, and of that with the scripts of the workspace that its command names. Both need a consent. */
export function foreignHashes(hook: ForeignHook, workspace: string) {
  const { eventName, matcher = null, command, env, source, rule, isBackground } = hook;
  const folder = relative(workspace, hook.folder);
  // Left out where they say nothing: older consents hold.
  const further = { ...(rule && { rule }), ...(isBackground && { isBackground }) };
  const definition = { eventName, matcher, command, env, source, folder, ...further };
  const scripts = scriptsOf(hook, workspace);
  return { definition: contentHash(definition), content: contentHash({ ...definition, scripts }) };
}

/** `isAllowed`: the user's consent to content with this hash. Asked at each run, because a script may have changed. */
export function foreignHook(
  definition: ForeignHook,
  { place, isAllowed }: { readonly place: CommandPlace; readonly isAllowed: (hash: string) => boolean },
): Hook {
  const { event, command, timeoutSeconds, failClosed, folder, eventName, format, rule, isBackground } = definition;
  const covers = foreignMatcher(definition.matcher);
  const selects = (rule !== undefined && permissionRule(rule, place.cwd)) || (() => true);
  const env = { ...definition.env, CLAUDE_PROJECT_DIR: place.cwd };
  const run = async (
    payload: HookPayload,
    call: ForeignCall | undefined,
    signal: AbortSignal,
  ): Promise<HookVerdict> => {
    const input = foreignPayload(payload, { name: eventName, format, call });
    const { confine } = place;
    const end = await runHookCommand({ command, place: { ...place, cwd: folder }, env, confine }, input, signal);
    return hookVerdict(end, { hook_event_name: event, tool_input: call?.input ?? null }, true);
  };
  return {
    event,
    label: command,
    origin: "workspace",
    failClosed,
    timeoutMs: timeoutSeconds * 1_000,
    isBackground,
    matcher: (tool) => coversTool(covers, tool),
    async run(payload, signal) {
      const calls = payload.tool_name === null ? undefined : foreignCalls(payload, covers).filter(selects);
      if (calls?.length === 0) return {};
      const { content } = foreignHashes(definition, place.cwd);
      if (!isAllowed(content))
        throw new Error("its script has changed since you allowed it. Read the script, then type `/hooks`");
      if (event === "on_session_start" && !covers(String(payload.extra["source"]))) return {};
      if (calls === undefined) return run(payload, undefined, signal);
      const verdicts = await Promise.all(calls.map((call) => run(payload, call, signal)));
      return joined(verdicts, calls, payload);
    },
  };
}

/** One verdict for our call from those for the other agent's calls. */
function joined(verdicts: readonly HookVerdict[], calls: readonly ForeignCall[], payload: HookPayload): HookVerdict {
  const strictest =
    verdicts.find(({ decision }) => decision === "block") ?? verdicts.find((one) => one.decision === "ask");
  const context = verdicts.flatMap((verdict) => verdict.context ?? []).join("\n");
  const changing = verdicts.findIndex(({ input }) => input !== undefined);
  const [call, input] = [calls[changing], verdicts[changing]?.input];
  if (call !== undefined && input !== undefined && calls.length > 1 && strictest?.decision !== "block") {
    const reason = "A hook changes one file of a patch of several files. Edit the files one by one.";
    return { decision: "block", reason };
  }
  const own = payload.tool_input as Readonly<Record<string, unknown>>; // of a checked call
  return {
    ...(strictest ?? verdicts[0]),
    ...(context !== "" && { context }),
    ...(call && input && { input: ownInput(own, call.input, input) }),
  };
}
