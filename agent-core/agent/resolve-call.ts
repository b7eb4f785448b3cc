/** Resolves one tool call of a model: its tool, and its arguments as the tool takes them. */
import { type MeantPlaces, titleInFolders, withMeantPaths } from "../host/workspace-folders.ts";
import type { ToolCall } from "../messages/message.ts";
import { parseJson } from "../platform/json.ts";
import { toolNamed } from "../platform/names.ts";
import { parseArguments } from "../tools/call-arguments.ts";
import { fitRefused, respelled } from "../tools/fit-arguments.ts";
import { unknownToolText } from "../tools/nearest-names.ts";
import type { Preparation, PreparedCall, ShellView, Tool } from "../tools/tool.ts";
import type { ToolProgressEvent } from "./callbacks.ts";

/** Tools that a call may name, and the places that its arguments may mean. */
export type CallableTools = MeantPlaces & {
  readonly tools: readonly Tool[];
  /** Reason why a tool is not available at the moment, in a sentence; undefined when it is available. */
  readonly withheld: (tool: Tool) => string | undefined;
  readonly shell: ShellView;
};

/** A call after its tool and arguments were checked. `call` holds the arguments that run, repaired if necessary. */
export type ResolvedCall = {
  /** Call that this one is a part of. */
  readonly parentCallId?: string;
  /** A script made this call: its input may hold what the script read. */
  readonly isFromCode?: boolean;
} & (
  | {
      readonly ok: true;
      readonly call: ToolCall;
      readonly tool: Tool;
      readonly input: unknown;
      readonly prepared: PreparedCall;
    }
  | { readonly ok: false; readonly call: ToolCall; readonly tool: Tool | undefined; readonly text: string }
);

/** Escapes of JSON: a whole character in two parts, one part alone, and any other. */
const ESCAPE = /\\(?:ud[89ab]..\\ud[c-f]..|(ud[89a-f]..)|.)/gis;

export function resolveCall(asked: ToolCall, services: CallableTools): ResolvedCall {
  // Servers refuse half a character in each later request of the session.
  const json = asked.function.arguments.toWellFormed().replaceAll(ESCAPE, (all, half) => (half ? "\\ufffd" : all));
  const written = { ...asked, function: { ...asked.function, arguments: json } };
  const parsed = parseArguments(written.function.arguments);
  const call = parsed.ok ? withRepaired(written, parsed.value) : written;
  const { name } = written.function;
  const named = toolNamed(name, services.tools);
  if (named === undefined) return { ok: false, call, tool: named, text: unknownToolText(name, services.tools) };
  const target: Target = parsed.ok
    ? targetOf(named, parsed.value, services.tools)
    : { ok: false, text: `${name}: ${parsed.text}` };
  const tool = target.ok ? target.tool : named;
  const withheld = services.withheld(tool);
  if (withheld !== undefined) return { ok: false, call, tool, text: `${tool.name}: ${withheld}` };
  if (!target.ok) return { ok: false, call, tool, text: target.text };
  const { cwd, otherFolders = [] } = services;
  const { input, preparation } = prepareFitted(tool, target.input, services);
  if (!preparation.ok) return { ok: false, call, tool, text: preparation.text };
  // The title of a command is the command itself.
  const { title } = preparation.call;
  const shownTitle = tool.kind === "execute" ? title : titleInFolders(title, cwd, otherFolders);
  return { ok: true, call, tool, input, prepared: { ...preparation.call, title: shownTitle } };
}

/** Prepares a call. Arguments that the tool refuses are fitted to its schema once; the refusal is that of the model's own. */
function prepareFitted(
  tool: Tool,
  raw: unknown,
  services: CallableTools,
): { readonly input: unknown; readonly preparation: Preparation } {
  const prepared = (given: unknown) => {
    const value = tool.ownForm?.(given) ?? given;
    // A server's path may be one of its own.
    const input = tool.need === "foreign" ? value : withMeantPaths(value, services);
    return { input, preparation: tool.prepare(input, services.cwd, services.shell) };
  };
  const first = prepared(tool.need === "foreign" ? respelled(raw, tool.schema.parameters) : raw);
  if (first.preparation.ok) return first;
  const fitted = prepared(fitRefused(raw, tool.schema.parameters));
  return fitted.preparation.ok ? fitted : first;
}

type Target =
  | { readonly ok: true; readonly tool: Tool; readonly input: unknown }
  | { readonly ok: false; readonly text: string };

/** The tool that runs: for one that only calls another, that other one with its own arguments. */
function targetOf(named: Tool, raw: unknown, tools: readonly Tool[]): Target {
  const forwarded = named.forward?.(raw);
  if (forwarded === undefined) return { ok: true, tool: named, input: raw };
  if (!forwarded.ok) return forwarded;
  const { name, input } = forwarded;
  const tool = toolNamed(name, tools);
  if (tool === undefined || tool.forward !== undefined) return { ok: false, text: unknownToolText(name, tools) };
  if (typeof input !== "string") return { ok: true, tool, input };
  const parsed = parseArguments(input);
  return parsed.ok ? { ok: true, tool, input: parsed.value } : { ok: false, text: `${name}: ${parsed.text}` };
}

/** Name of the tool that runs; for an unknown tool the name that the model wrote. */
export function calledName({ tool, call }: ResolvedCall): string {
  return tool?.name ?? call.function.name;
}

/** The call as its card shows it. */
export function startedEvent(resolved: ResolvedCall): ToolProgressEvent {
  const { id, function: called } = resolved.call;
  const name = calledName(resolved);
  const { parentCallId, tool } = resolved;
  const nested = parentCallId !== undefined && { parentCallId };
  const facts = { type: "started", callId: id, name, kind: tool?.kind ?? "other", ...nested } as const;
  if (!resolved.ok) return { ...facts, title: name, locations: [], input: called.arguments };
  const { title, locations } = resolved.prepared;
  return { ...facts, title, locations, input: resolved.input };
}

/** Valid JSON stays as the model wrote it, so that a cached prefix keeps its bytes. */
function withRepaired(call: ToolCall, input: unknown): ToolCall {
  const { name, arguments: json } = call.function;
  if (parseJson(json) !== undefined) return call;
  return { ...call, function: { name, arguments: JSON.stringify(input) } };
}
