/**
 * Hooks that a workspace brings along for other agents: `.claude/settings.json`, `.claude/settings.local.json` and
 * `.github/hooks/*.json`. Each needs the user's consent to its exact content, and can only tighten.
 */
import { readdir } from "node:fs/promises";
import { isAbsolute, join, relative } from "node:path";
import * as z from "zod";
import { contentHash, namedScripts } from "../approval/consents.ts";
import { readByItself } from "../approval/workspace-file.ts";
import { parseJson } from "../platform/json.ts";
import { type CommandHook, type CommandPlace, matcherOf, runHookCommand } from "./command-hook.ts";
import {
  coversTool,
  type ForeignCall,
  type ForeignFormat,
  foreignCalls,
  foreignEvent,
  foreignPayload,
  ownInput,
} from "./foreign-calls.ts";
import { CLAUDE_FILES, COPILOT_FOLDER, type Hook, type HookPayload, type HookVerdict } from "./hook.ts";
import { hookVerdict } from "./hook-answer.ts";

/** Defaults of Copilot and of Claude Code, whose hooks run test suites. Seconds. */
const DEFAULT_TIMEOUT_SECONDS = { copilot: 30, claude: 600 } as const;
/** Longest timeout: some files give milliseconds. Seconds. */
const MAX_TIMEOUT_SECONDS = 3_600;

const text = z.string().min(1).optional();
const seconds = z.coerce.number().positive().optional().catch(undefined);

const handlerSchema = z.looseObject({
  type: z.string().default("command"),
  matcher: z.string().optional(),
  command: text,
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

const entrySchema = z.looseObject({ matcher: z.string().optional(), hooks: z.array(z.unknown()).optional() });

const fileSchema = z.looseObject({
  disableAllHooks: z.boolean().default(false),
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
  readonly env: Readonly<Record<string, string>>;
  /** Folder of the command, absolute. */
  readonly folder: string;
};

export type ForeignHooks = {
  readonly hooks: readonly ForeignHook[];
  /** One line for each file or entry that cannot be used. */
  readonly problems: readonly string[];
  /** One line for each file with rules that have no effect here. */
  readonly ignored: readonly string[];
};

/** Reads the files of a workspace that the user trusts. */
export async function readForeignHooks(workspace: string): Promise<ForeignHooks> {
  const names = await readdir(join(workspace, COPILOT_FOLDER)).catch(() => []);
  const further = names.filter((name) => name.endsWith(".json")).toSorted((one, other) => (one < other ? -1 : 1));
  const sources = [...CLAUDE_FILES, ...further.map((name) => `${COPILOT_FOLDER}/${name}`)];
  const files = sources.map((source) => readForeignFile(workspace, source));
  return {
    hooks: files.flatMap(({ hooks }) => hooks),
    problems: files.flatMap(({ problems }) => problems),
    ignored: files.flatMap(({ ignored }) => ignored),
  };
}

const NOTHING: ForeignHooks = { hooks: [], problems: [], ignored: [] };

function readForeignFile(workspace: string, source: string): ForeignHooks {
  const file = join(workspace, source);
  const read = readByItself(file, { within: [workspace] });
  if (!read.ok) {
    const { reason } = read;
    return {
      ...NOTHING,
      problems: reason === undefined ? [] : [`${source}: its hooks are not used, because ${reason}.`],
    };
  }
  const parsed = fileSchema.safeParse(parseJson(read.text));
  if (!parsed.success) {
    const where = parsed.error.issues[0]?.path.join(".") || "its beginning";
    return { ...NOTHING, problems: [`${source}: its hooks are not used, because the file is not valid at ${where}.`] };
  }
  const { deny = [], ask = [] } = parsed.data.permissions ?? {};
  const ignored =
    deny.length + ask.length === 0
      ? []
      : [`${source}: its permissions have no effect here. Hermes asks by its own rules.`];
  if (parsed.data.disableAllHooks) return { ...NOTHING, ignored };
  const made = Object.entries(parsed.data.hooks ?? {}).flatMap(([eventName, entries]) =>
    [entries]
      .flat()
      .flatMap(handlersOf)
      .map((found) => hookOf({ ...found, eventName, source, file }, workspace)),
  );
  return {
    hooks: made.filter((hook) => typeof hook !== "string"),
    problems: [...new Set(made.filter((problem) => typeof problem === "string"))],
    ignored,
  };
}

type Found = Pick<ForeignHook, "matcher" | "eventName" | "source" | "file"> & { readonly handler: unknown };

/** The hook, or the reason in one line why it cannot be used. */
function hookOf({ handler, ...found }: Found, workspace: string): ForeignHook | string {
  const { eventName, source } = found;
  const known = foreignEvent(eventName);
  if (known === undefined) return `${source}: hooks for ${eventName} have no effect in this version.`;
  const parsed = handlerSchema.safeParse(handler);
  const command = parsed.success && parsed.data.type === "command" ? commandOf(parsed.data) : undefined;
  if (!parsed.success || command === undefined) {
    const where = parsed.error?.issues[0]?.path.join(".");
    const reason = where ? `its ${where} is not valid` : "it has no command for this system";
    return `${source}: a hook for ${eventName} is not used, because ${reason}.`;
  }
  const { env, cwd = ".", timeoutSec, timeout = timeoutSec ?? DEFAULT_TIMEOUT_SECONDS[known.format] } = parsed.data;
  return {
    ...found,
    ...known,
    command,
    env,
    folder: isAbsolute(cwd) ? cwd : join(workspace, cwd),
    timeoutSeconds: Math.min(timeout, MAX_TIMEOUT_SECONDS),
    failClosed: known.event === "pre_tool_call",
  };
}

/** The handlers of a group, or a handler alone. */
function handlersOf(entry: unknown) {
  const { matcher, hooks = [entry] } = entrySchema.safeParse(entry).data ?? {};
  return hooks.map((handler) => ({ matcher: matcher === "" || matcher === "*" ? undefined : matcher, handler }));
}

/** In Claude Code a pattern is a list of names, or an expression that some part of a name matches. */
function foreignMatcher(matcher: string | undefined): (name: string) => boolean {
  if (matcher === undefined) return () => true;
  const isList = /^[\w\s,|-]+$/.test(matcher);
  return matcherOf(isList ? matcher.trim().replaceAll(/\s*[,|]\s*/g, "|") : `.*(?:${matcher}).*`);
}

function commandOf({ command, bash, powershell, linux, osx, windows }: Handler): string | undefined {
  if (process.platform === "win32") return windows ?? powershell ?? command;
  return (process.platform === "darwin" ? osx : linux) ?? bash ?? command;
}

/** Hashes of a hook. The hook runs only while its content has the hash that the user has allowed. */
export type HookHashes = {
  /** Of its entry in the file. */
  readonly definition: string;
  /** Of its entry, and of the scripts of the workspace that its command names. */
  readonly content: string;
};

export function foreignHashes(hook: ForeignHook, workspace: string): HookHashes {
  const { eventName, matcher = null, command, env, source } = hook;
  const definition = { eventName, matcher, command, env, source, folder: relative(workspace, hook.folder) };
  const plain = command.replaceAll(/["']?\$\{?CLAUDE_PROJECT_DIR\}?["']?/g, workspace);
  const words = plain.split(/[\s"'`;|&<>()=]+/).filter((word) => word !== "");
  const scripts = namedScripts(words, hook.folder, workspace);
  return { definition: contentHash(definition), content: contentHash({ ...definition, scripts }) };
}

/** `isAllowed`: the user's consent to content with this hash. Asked at each run, because a script may have changed. */
export function foreignHook(
  definition: ForeignHook,
  { place, isAllowed }: { readonly place: CommandPlace; readonly isAllowed: (hash: string) => boolean },
): Hook {
  const { event, matcher, command, timeoutSeconds, failClosed, folder, eventName, format } = definition;
  const covers = foreignMatcher(matcher);
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
    matcher: (tool) => coversTool(covers, tool),
    async run(payload, signal) {
      const { content } = foreignHashes(definition, place.cwd);
      if (!isAllowed(content))
        throw new Error("its script has changed since you allowed it. Read the script, then type `/hooks`");
      if (event === "on_session_start" && !covers(String(payload.extra["source"]))) return {};
      if (payload.tool_name === null) return run(payload, undefined, signal);
      const calls = foreignCalls(payload, covers);
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
    return {
      decision: "block",
      reason: "A hook changes one file of a patch of several files. Edit the files one by one.",
    };
  }
  const own = payload.tool_input as Readonly<Record<string, unknown>>; // of a checked call
  return {
    ...(strictest ?? verdicts[0]),
    ...(context !== "" && { context }),
    ...(call && input && { input: ownInput(own, call.input, input) }),
  };
}
