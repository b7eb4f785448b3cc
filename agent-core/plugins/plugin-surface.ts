/** The object `ctx` that a plugin's `register(ctx)` gets, and the registrations that it collects. */
import { resolve } from "node:path";
import { HOOK_EVENTS } from "../hooks/hook.ts";
import { messageOf } from "../platform/errors.ts";
import { isRecord } from "../platform/json.ts";
import type { CallFacts, Registration } from "./plugin-messages.ts";

/** Second argument of every handler. */
export type PluginCall = CallFacts & {
  /** Aborted when the user cancels the turn. */
  readonly signal: AbortSignal;
  /** Shows progress on the card of a tool call; each text replaces the one before. */
  readonly show: (text: unknown) => void;
};

export type PluginHandler = (input: unknown, call: PluginCall) => unknown;

type Given = Readonly<Record<string, unknown>>;

/** The functions of `ctx` check their arguments and throw an Error that names the wrong value. */
export type PluginContext = {
  readonly config: unknown;
  readonly log: (text: unknown) => void;
  registerTool(tool: Given): void;
  registerCommand(command: Given): void;
  registerHook(event: string, ...rest: readonly unknown[]): void;
  registerContextEngine(name: string, engine: Given): void;
  registerSkillsDir(path: string): void;
};

export type PluginSurface = {
  readonly context: PluginContext;
  readonly registrations: readonly Registration[];
  readonly handlers: readonly PluginHandler[];
  /** Rejects registrations from now on. */
  close(): void;
};

export type PluginSurfaceOptions = {
  readonly config: unknown;
  readonly log: (text: unknown) => void;
  /** Folder of the plugin, absolute; relative paths start here. */
  readonly folder: string;
};

/** Names that every model API accepts. */
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
/** Names that the agent reads as a slash command. */
const COMMAND_NAME = /^[a-z][a-z0-9_.-]{0,63}$/;
const ENGINE_NAME = /^[a-z][a-z0-9_-]{0,63}$/;

export function pluginSurface({ config, log, folder }: PluginSurfaceOptions): PluginSurface {
  const registrations: Registration[] = [];
  const handlers: PluginHandler[] = [];
  let isOpen = true;
  const add = (registration: Registration): void => {
    if (!isOpen) throw new Error("Register everything inside register(ctx), before it returns.");
    registrations.push(registration);
  };
  const handlerOf = (owner: Given, key: string, place: string): number => {
    const value = owner[key];
    if (typeof value !== "function") throw wrong(`${place}: ${key}`, "a function", value);
    return handlers.push((...args) => value.apply(owner, args)) - 1;
  };
  return {
    registrations,
    handlers,
    close() {
      isOpen = false;
    },
    context: {
      config,
      log,
      registerTool: (tool) => add(toolOf(tool, handlerOf)),
      registerCommand: (command) => add(commandOf(command, handlerOf)),
      registerHook: (event, ...rest) => add(hookOf(event, rest, handlerOf)),
      registerContextEngine: (name, engine) => add(engineOf(name, engine, handlerOf)),
      registerSkillsDir: (path) =>
        add({ kind: "skills", path: resolve(folder, text(path, "registerSkillsDir: the path")) }),
    },
  };
}

type HandlerOf = (owner: Given, key: string, place: string) => number;

function toolOf(given: Given, handlerOf: HandlerOf): Registration {
  const tool = object(given, "registerTool");
  const name = named(tool["name"], TOOL_NAME, "registerTool: name");
  const place = `registerTool ${name}`;
  const { parameters = { type: "object", properties: {} }, readOnly = false, timeout } = tool;
  if (timeout !== undefined && !(Number(timeout) > 0)) throw wrong(`${place}: timeout`, "a number of seconds", timeout);
  return {
    kind: "tool",
    name,
    description: text(tool["description"], `${place}: description`),
    parameters: schemaOf(parameters, `${place}: parameters`),
    readOnly: readOnly === true,
    handler: handlerOf(tool, "run", place),
    ...(timeout !== undefined && { timeout: Number(timeout) }),
  };
}

function commandOf(given: Given, handlerOf: HandlerOf): Registration {
  const command = object(given, "registerCommand");
  const name = named(command["name"], COMMAND_NAME, "registerCommand: name");
  const { hint } = command;
  return {
    kind: "command",
    name,
    description: text(command["description"], `registerCommand ${name}: description`),
    ...(hint !== undefined && { hint: text(hint, `registerCommand ${name}: hint`) }),
    handler: handlerOf(command, "run", `registerCommand ${name}`),
  };
}

/** `rest`: options and the handler, or the handler alone. */
function hookOf(name: string, rest: readonly unknown[], handlerOf: HandlerOf): Registration {
  const event = HOOK_EVENTS.find((known) => known === name);
  if (event === undefined) throw wrong("registerHook: the event", `one of ${HOOK_EVENTS.join(", ")}`, name);
  const [options, handler] = rest.length > 1 ? rest : [{}, rest[0]];
  const { matcher, failClosed = false } = object(options, `registerHook ${name}: the options`);
  const source = matcher instanceof RegExp ? matcher.source : matcher;
  if (source !== undefined) new RegExp(text(source, `registerHook ${name}: matcher`)); // throws for a broken one
  return {
    kind: "hook",
    event,
    failClosed: failClosed === true,
    ...(typeof source === "string" && { matcher: source }),
    handler: handlerOf({ handler }, "handler", `registerHook ${name}`),
  };
}

function engineOf(given: string, methods: Given, handlerOf: HandlerOf): Registration {
  const name = named(given, ENGINE_NAME, "registerContextEngine: the name");
  const place = `registerContextEngine ${name}`;
  const engine = object(methods, place);
  return {
    kind: "engine",
    name,
    handler: handlerOf(engine, "plan", place),
    ...(engine["shouldCompress"] !== undefined && { shouldCompress: handlerOf(engine, "shouldCompress", place) }),
  };
}

function object(value: unknown, place: string): Given {
  if (isRecord(value)) return value;
  throw wrong(place, "an object", value);
}

/** A model API accepts only schemas of objects. Functions and cycles cannot be sent, so it is copied as JSON. */
function schemaOf(value: unknown, place: string): Given {
  const { type = "object", ...rest } = object(value, place);
  if (type !== "object") throw wrong(`${place}: type`, '"object"', type);
  try {
    return JSON.parse(JSON.stringify({ type, ...rest }));
  } catch (error) {
    throw new Error(`${place} cannot be written as JSON: ${messageOf(error).split("\n", 1)[0]}`);
  }
}

function text(value: unknown, place: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw wrong(place, "a non-empty string", value);
}

function named(value: unknown, pattern: RegExp, place: string): string {
  if (typeof value === "string" && pattern.test(value)) return value;
  throw wrong(place, `a name of the form ${pattern.source}`, value);
}

function wrong(place: string, expected: string, value: unknown): Error {
  const shown = typeof value === "string" ? JSON.stringify(value.slice(0, 80)) : typeof value;
  return new Error(`${place} must be ${expected}, not ${shown}`);
}
