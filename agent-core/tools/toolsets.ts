/** Toolsets: users enable and disable tools by set, or by a composite name for several sets. */
import { nearName } from "../platform/names.ts";
import type { Tool } from "./tool.ts";

/** Composite names, as configurations of the original Hermes use them. */
const COMPOSITES: Readonly<Record<string, readonly string[]>> = {
  coding: [
    "file",
    "search",
    "terminal",
    "todo",
    "clarify",
    "session_search",
    "memory",
    "skills",
    "code_execution",
    "delegation",
    "cronjob",
    "web",
    "vision",
    "editor",
  ],
  safe: ["file-read", "search", "todo", "clarify"],
};

/** Enables every toolset. */
const ALL = "all";

export type ToolChoice = {
  /** Only these sets; default: all. */
  readonly enabled?: readonly string[] | undefined;
  /** Sets that are always off. */
  readonly disabled?: readonly string[] | undefined;
};

export type ChosenTools =
  | { readonly ok: true; readonly tools: readonly Tool[] }
  | { readonly ok: false; readonly message: string };

/** Fails on an unknown name: a typing error must not remove a restriction. */
export function selectTools(table: readonly Tool[], { enabled, disabled = [] }: ToolChoice): ChosenTools {
  const own = [...table.map((tool) => tool.toolset), ...EXTENSION_TOOLSETS];
  const known = new Set([...own, ...Object.keys(COMPOSITES), ...FOREIGN_TOOLSETS, ALL]);
  const unknown = [...(enabled ?? []), ...disabled].find(
    (name) => !known.has(name) && !/^(?:hermes|mcp|plugin)-/.test(name),
  );
  if (unknown !== undefined) {
    const near = nearName(unknown, [...known]);
    const hint = near === undefined ? ` Available: ${[...new Set(own), ALL].join(", ")}.` : ` Did you mean ${near}?`;
    return { ok: false, message: `There is no toolset ${JSON.stringify(unknown)}.${hint}` };
  }
  const on = enabled === undefined || enabled.includes(ALL) ? undefined : expand(enabled);
  const off = expand(disabled);
  const tools = table.filter((tool) => (on === undefined || isIn(tool, on)) && !isIn(tool, off));
  return { ok: true, tools };
}

/**
 * True when a tool of an extension is on. A list of enabled sets contains these tools with `all`, with their own set, and
 * with each composite of an editor (`hermes-…`).
 */
export function isToolsetOn(tool: Tool, { enabled, disabled = [] }: ToolChoice): boolean {
  if (isIn(tool, expand(disabled))) return false;
  if (enabled === undefined || enabled.includes(ALL)) return true;
  return isIn(tool, expand(enabled)) || enabled.some((name) => name.startsWith("hermes-"));
}

const EXTENSION_TOOLSETS = ["skills"];

/** Toolsets of the original Hermes without tools here: a configuration that names them is valid. */
const FOREIGN_TOOLSETS = ["image_gen", "messaging", "tts", "moa", "rl", "homeassistant", "debugging"];

/** Enabled names of the original Hermes that add no tool, because this version has none. */
export function unsupportedToolsets(table: readonly Tool[], names: readonly string[]): readonly string[] {
  const supported = new Set(table.map((tool) => tool.toolset));
  return names.filter((name) => FOREIGN_TOOLSETS.includes(name) && !supported.has(name));
}

function expand(names: readonly string[]): ReadonlySet<string> {
  return new Set(
    names.flatMap((name) => (name.startsWith("hermes-") ? COMPOSITES["coding"] : COMPOSITES[name]) ?? [name]),
  );
}

/** `file-read` is the read-only part of `file`. */
function isIn({ toolset, readOnly }: Tool, sets: ReadonlySet<string>): boolean {
  return sets.has(toolset) || (toolset === "file" && readOnly && sets.has("file-read"));
}
