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
import { type CommandHook, type CommandPlace, MAX_TIMEOUT_SECONDS, matcherOf, runHookCommand } from "./command-hook.ts";
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

/** Default of VS Code and Copilot. Seconds. */
const DEFAULT_TIMEOUT_SECONDS = 30;

const text = z.string().min(1).optional();

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
  env: z.record(z.string(), z.string()).default({}),
  timeout: z.number().positive().optional(),
  timeoutSec: z.number().positive().optional(),
});

const groupSchema = z.looseObject({ matcher: z.string().optional(), hooks: z.array(handlerSchema) });

const fileSchema = z.looseObject({
  disableAllHooks: z.boolean().default(false),
  hooks: z.record(z.string(), z.array(z.union([groupSchema, handlerSchema]))).default({}),
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
  /** Name of the event in the file. */
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
  const made = Object.entries(parsed.data.hooks).flatMap(([eventName, entries]) =>
    entries.flatMap(handlersOf).map((handler) => hookOf({ ...handler, eventName, source, file }, workspace)),
  );
  return {
    hooks: made.filter((hook) => typeof hook !== "string"),
    problems: [...new Set(made.filter((problem) => typeof problem === "string"))],
    ignored,
  };
}

type Found = Pick<ForeignHook, "matcher" | "eventName" | "source" | "file"> & { readonly handler: Handler };

/** The hook, or the reason in one line why it cannot be used. */
function hookOf({ handler, ...found }: Found, workspace: string): ForeignHook | string {
  const { eventName, source } = found;
  const known = foreignEvent(eventName);
  if (known === undefined) return `${source}: hooks for ${eventName} have no effect in this version.`;
  const command = commandOf(handler);
  if (handler.type !== "command" || command === undefined) {
    return `${source}: a hook for ${eventName} is not used, because it has no command for this system.`;
  }
  const { env, cwd = "." } = handler;
  const timeout = handler.timeout ?? handler.timeoutSec ?? DEFAULT_TIMEOUT_SECONDS;
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

function handlersOf(entry: z.infer<typeof groupSchema> | Handler) {
  const isGroup = (one: typeof entry): one is z.infer<typeof groupSchema> => Array.isArray(one["hooks"]);
  const matcher = entry.matcher === "" || entry.matcher === "*" ? undefined : entry.matcher;
  return (isGroup(entry) ? entry.hooks : [entry]).map((handler) => ({ matcher, handler }));
}

function commandOf({ command, bash, powershell, linux, osx, windows }: Handler): string | undefined {
  switch (process.platform) {
    case "win32":
      return windows ?? powershell ?? command;
    case "darwin":
      return osx ?? bash ?? command;
    default:
      return linux ?? bash ?? command;
  }
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
  const covers = matcher === undefined ? () => true : matcherOf(matcher);
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
