/**
 * Hooks that a workspace brings along for other agents: in the files of Claude Code, Cursor, Codex, Gemini CLI and Copilot. Each
 * needs the user's consent to its exact content, and can only tighten.
 */
import { readdir } from "node:fs/promises";
import { isAbsolute, join, relative } from "node:path";
import * as z from "zod";
import { contentHash, namedScripts } from "../approval/consents.ts";
import { readByItself } from "../approval/workspace-file.ts";
import { messageOf } from "../platform/errors.ts";
import { parseJsonc } from "../platform/jsonc.ts";
import { type CommandHook, type CommandPlace, matcherOf, runHookCommand, wholeOf } from "./command-hook.ts";
import {
  areRules,
  coversTool,
  type ForeignCall,
  type ForeignEvent,
  type ForeignFormat,
  foreignCalls,
  foreignEvent,
  foreignPayload,
  isOfOutcome,
  ownInput,
  permissionRule,
  subjectOf,
  subjectsOf,
} from "./foreign-calls.ts";
import {
  CLAUDE_FILES,
  COPILOT_FOLDER,
  type Hook,
  type HookEvent,
  type HookPayload,
  type HookVerdict,
  OTHER_FILES,
} from "./hook.ts";
import { hookVerdict } from "./hook-answer.ts";

/** Defaults of Copilot, of Claude Code, whose hooks run test suites, and of Cursor. Seconds. */
const DEFAULT_TIMEOUT_SECONDS = { copilot: 30, claude: 600, cursor: 60 } as const;
/** Beginning of the files of Gemini CLI, which give timeouts in milliseconds, and have settings beside the events. */
const GEMINI = ".gemini/";
/** Longest timeout. Seconds. */
const MAX_TIMEOUT_SECONDS = 3_600;

/** Fields that say something to people, and `once`, which Claude Code obeys in skills alone. */
const REMARKS = /^(?:[_$/].*|name|id|description|comment|statusMessage|once|loop_limit|rewake\w+)$/;
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
  exec: text,
  onFailure: z.enum(["block", "allow"]).optional().catch(undefined),
  failClosed: z.boolean().default(false).catch(false),
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
  readonly tools?: string;
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
  const others = [...OTHER_FILES, ...further.map((name) => `${COPILOT_FOLDER}/${name}`)];
  const foreign = others.map((source) => readForeignFile(workspace, source));
  const files = [...claude.map((file) => ({ ...file, isOff })), ...foreign];
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
  const { enabled, disabled, notifications, ...events } = parsed.data.hooks ?? {};
  const isGemini = source.startsWith(GEMINI);
  const isDisabled = ({ name, command }: Partial<Handler>) => isGemini && [disabled].flat().includes(name ?? command);
  const made = Object.entries((isGemini ? events : parsed.data.hooks) ?? {}).flatMap(([eventName, entries]) =>
    [entries]
      .flat()
      .flatMap(handlersOf)
      .filter(({ handler }) => !isDisabled(Object(handler)))
      .map((found) => hookOf({ ...found, eventName, source, file }, workspace)),
  );
  return {
    hooks: made.flatMap(({ hook = [] }) => hook),
    problems: [...new Set(made.flatMap(({ problem = [] }) => problem))],
    ignored,
    isOff: (isGemini && enabled === false) || parsed.data.disableAllHooks,
  };
}

type Found = Pick<ForeignHook, "eventName" | "source" | "file"> & { readonly handler: unknown };

/** The hook, and one line when it cannot be used in full. */
function hookOf({ handler, ...found }: Found, workspace: string): { hook?: ForeignHook; problem?: string } {
  const { eventName, source } = found;
  const known = foreignEvent(eventName, source.startsWith(".cursor/"));
  if (known === undefined) return { problem: `${source}: hooks for ${eventName} have no effect in this version.` };
  const parsed = handlerSchema.safeParse(withRule(handler, known));
  const where = parsed.error?.issues[0]?.path.join(".");
  const problem = parsed.success ? problemOf(parsed.data, known) : `its ${where || "entry"} is not valid`;
  const line = parsed.success ? lineOf(parsed.data) : undefined;
  const about = `${source}: a hook for ${eventName}`;
  if (!parsed.success || line === undefined || problem !== undefined)
    return { problem: `${about} is not used, because ${problem ?? "it has no command for this system"}.` };
  const { matcher, if: rule, env, cwd = ".", onFailure } = parsed.data;
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
    timeoutSeconds: timeoutOf(parsed.data, source, known.format),
    failClosed: (onFailure === "block" || parsed.data.failClosed) && !isBackground,
  };
  const isRead = (key: string): boolean =>
    REMARKS.test(key) || (key in handlerSchema.shape && parsed.data[key] !== undefined);
  const unread = Object.keys(parsed.data).filter((key) => !isRead(key));
  if (unread.length === 0) return { hook };
  return { hook, problem: `${about} runs without its "${unread.join('", "')}", which Hermes does not understand.` };
}

function timeoutOf({ timeoutSec, timeout = timeoutSec }: Handler, source: string, format: ForeignFormat): number {
  const seconds = timeout && timeout / (source.startsWith(GEMINI) ? 1_000 : 1);
  return Math.min(seconds ?? DEFAULT_TIMEOUT_SECONDS[format], MAX_TIMEOUT_SECONDS);
}

/** Reason why a valid handler is not used. */
function problemOf(handler: Handler, known: ForeignEvent): string | undefined {
  if (handler.type !== "command") return `Hermes runs commands, and its type is ${handler.type}`;
  const isForNames = known.format === "cursor" && (known.tools ?? "mcp__").startsWith("mcp__");
  if (isForNames && NO_NAME.test(handler.matcher ?? "")) return "its matcher names no tool that Hermes has";
  const isElsewhere = handler.if !== undefined && !TOOL_EVENTS.has(known.event);
  return isElsewhere ? 'its "if" selects tool calls, and this event has none' : undefined;
}

/** Plain text that is no tool's name in Hermes. */
const NO_NAME = /^(?:MCP:)?(?!MCP:)[\w-]*[:/][\w:/-]*$/;
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

/** A rule in place of a matcher, such as `Bash(touch *)`, covers no name as a pattern. It selects as `if` does. */
function withRule(handler: unknown, { event }: ForeignEvent): unknown {
  const { matcher, if: rule = matcher } = Object(handler);
  const isName = wholeOf(matcher)?.test(String(matcher).replace(/\(.*/s, "")) === true;
  const isRule = TOOL_EVENTS.has(event) && areRules(String(matcher)) && !isName;
  return isRule ? { ...Object(handler), matcher: "*", if: rule } : handler;
}

/** In Claude Code a pattern is a list of names, or an expression that some part of a name matches; in Copilot all of it. */
function foreignMatcher({ matcher, format }: ForeignHook): (name: string) => boolean {
  if (matcher === undefined) return () => true;
  if (format === "copilot") return matcherOf(matcher);
  const isList = /^[\w\s,|-]+$/.test(matcher);
  return matcherOf(isList ? matcher.trim().replaceAll(/\s*[,|]\s*/g, "|") : `.*(?:${matcher}).*`);
}

function commandOf({ exec, args = exec === undefined ? undefined : [], ...handler }: Handler, line: string): string {
  if (args !== undefined) return [line, ...args].map((word) => quoted(word, true)).join(" ");
  const isWindows = process.platform === "win32";
  const { shell = isWindows && line === handler.powershell ? "powershell" : undefined } = handler;
  // The entry is written for a Unix shell, and cmd has its own form of a variable.
  if (shell === undefined) return isWindows ? line.replaceAll(/\$\{?(\w+_PROJECT_DIR)\b\}?/g, "%$1%") : line;
  // PowerShell reads a variable of the environment under this name alone.
  const own = shell === "bash" ? line : line.replaceAll(/(?<=\$\{)(?=CLAUDE_PROJECT_DIR\})/g, "env:");
  return `${SHELLS[shell]} ${quoted(own, false)}`;
}

function lineOf({ exec, command = exec, bash, powershell, linux, osx, windows }: Handler): string | undefined {
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
  const { eventName, matcher = null, command, env, source, rule, isBackground, failClosed } = hook;
  const folder = relative(workspace, hook.folder);
  // Left out where they say nothing: older consents hold.
  const further = { ...(rule && { rule }), ...(isBackground && { isBackground }), ...(failClosed && { failClosed }) };
  const definition = { eventName, matcher, command, env, source, folder, ...further };
  const scripts = scriptsOf(hook, workspace);
  return { definition: contentHash(definition), content: contentHash({ ...definition, scripts }) };
}

/** `isAllowed`: the user's consent to content with this hash. Asked at each run, because a script may have changed. */
export function foreignHook(
  definition: ForeignHook,
  { place, isAllowed }: { readonly place: CommandPlace; readonly isAllowed: (hash: string) => boolean },
): Hook {
  const { event, command, timeoutSeconds, failClosed, folder, eventName, format, rule, isBackground, source } =
    definition;
  const { tools, matcher } = definition;
  const covers = foreignMatcher(tools === undefined ? definition : { ...definition, matcher: tools });
  const isMeant = tools === undefined || matcher === undefined ? () => true : matcherOf(`[^]*(?:${matcher})[^]*`);
  const isGuard = event === "pre_tool_call" && !isBackground;
  const fail = (reason: string, isBlocking: boolean): HookVerdict => {
    if (!isBlocking) throw new Error(reason);
    return { decision: "block", reason: `The hook "${command}" failed: ${reason}` };
  };
  const isOfRule = (rule !== undefined && permissionRule(rule, place.cwd)) || (() => true);
  const selects = (call: ForeignCall): boolean => isOfRule(call) && subjectsOf(call).some(isMeant);
  const folders = { CLAUDE_PROJECT_DIR: place.cwd, CURSOR_PROJECT_DIR: place.cwd, GEMINI_PROJECT_DIR: place.cwd };
  const env = { ...definition.env, ...folders };
  const run = async (
    payload: HookPayload,
    call: ForeignCall | undefined,
    signal: AbortSignal,
  ): Promise<HookVerdict> => {
    const input = foreignPayload(payload, { name: eventName, format, call });
    const { confine } = place;
    const end = await runHookCommand({ command, place: { ...place, cwd: folder }, env, confine }, input, signal);
    return hookVerdict(end, { hook_event_name: event, tool_input: call?.input ?? null }, format);
  };
  // In Copilot a guard that fails blocks, unless it takes too long. In Claude Code it does not. Copilot reads both forms.
  const isClosed = format === "copilot" || source.startsWith(COPILOT_FOLDER);
  const guarded: typeof run = (payload, call, signal) =>
    run(payload, call, signal).catch((error: unknown) => {
      return fail(messageOf(error), isGuard && isClosed && !signal.aborted);
    });
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
      if (calls?.length === 0 || !isOfOutcome(eventName, payload)) return {};
      const { content } = foreignHashes(definition, place.cwd);
      if (!isAllowed(content))
        return fail("its script has changed since you allowed it. Read the script, then type `/hooks`", isGuard);
      const subject = payload.tool_name === null ? subjectOf(payload) : undefined;
      if (subject !== undefined && !covers(subject)) return {};
      if (calls === undefined) return guarded(payload, undefined, signal);
      const verdicts = await Promise.all(calls.map((call) => guarded(payload, call, signal)));
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
