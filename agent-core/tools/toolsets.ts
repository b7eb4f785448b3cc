/** Toolsets: tools are enabled and disabled by the set they belong to, or by a name that stands for several sets. */
import { nearestNames } from "./nearest.ts";
import type { Tool } from "./tool.ts";

/** Names that stand for several toolsets, after the original's. */
const COMPOSITES: Readonly<Record<string, readonly string[]>> = {
  coding: ["file", "search", "terminal", "todo", "clarify", "session_search", "memory"],
  safe: ["file-read", "search", "todo", "clarify"],
};

/** `all`: no restriction. */
const ALL = "all";

export type ToolChoice = {
  /** Only these; default: all. */
  readonly enabled?: readonly string[];
  /** Never these. */
  readonly disabled?: readonly string[];
};

export type ChosenTools =
  | { readonly ok: true; readonly tools: readonly Tool[] }
  | { readonly ok: false; readonly message: string };

/** Fails on a name that is neither a toolset nor a composite: a typing error must not disarm a restriction. */
export function selectTools(table: readonly Tool[], { enabled, disabled = [] }: ToolChoice): ChosenTools {
  const known = new Set([...table.map((tool) => tool.toolset), ...Object.keys(COMPOSITES), ...FOREIGN_TOOLSETS, ALL]);
  const unknown = [...(enabled ?? []), ...disabled].find((name) => !isKnown(name, known));
  if (unknown !== undefined) {
    const near = nearestNames(unknown, [...known], 3);
    const hint = near.length > 0 ? ` Did you mean ${near.join(", ")}?` : "";
    return { ok: false, message: `There is no toolset ${JSON.stringify(unknown)}.${hint}` };
  }
  const on = enabled === undefined || enabled.includes(ALL) ? undefined : expand(enabled);
  const off = expand(disabled);
  const tools = table.filter((tool) => (on === undefined || isIn(tool, on)) && !isIn(tool, off));
  return { ok: true, tools };
}

/** Toolsets of the original whose tools are not here: a home that names them is not wrong. */
const FOREIGN_TOOLSETS = [
  "web",
  "browser",
  "vision",
  "image_gen",
  "skills",
  "delegation",
  "code_execution",
  "cronjob",
  "messaging",
  "tts",
  "moa",
  "rl",
  "homeassistant",
  "debugging",
];

function isKnown(name: string, known: ReadonlySet<string>): boolean {
  return known.has(name) || name.startsWith("hermes-") || name.startsWith("mcp-");
}

function expand(names: readonly string[]): ReadonlySet<string> {
  return new Set(
    names.flatMap((name) => (name.startsWith("hermes-") ? COMPOSITES["coding"] : COMPOSITES[name]) ?? [name]),
  );
}

/** `file-read` is the part of `file` that changes nothing. */
function isIn({ toolset, readOnly }: Tool, sets: ReadonlySet<string>): boolean {
  return sets.has(toolset) || (toolset === "file" && readOnly && sets.has("file-read"));
}
