/**
 * The system prompt: layers in a fixed order, built once a session and then frozen, so that the prefix of every
 * request stays the same to the byte. What changes within a session is never one of them.
 */
import type { MemorySnapshot } from "../memory/snapshot.ts";
import { DEFAULT_IDENTITY, GUIDANCE } from "./texts.ts";

export type PromptFacts = {
  /** Text of SOUL.md; undefined for the built-in identity. */
  readonly soul: string | undefined;
  /** Names of the enabled tools. */
  readonly tools: readonly string[];
  /** What the caller wants said on top (`systemMessage` of a conversation). */
  readonly systemMessage: string | undefined;
  /** What is remembered of earlier sessions, ready to be read. */
  readonly memory: MemorySnapshot;
  /** The project's own instructions, ready to be read (project-context.ts). */
  readonly projectContext: string | undefined;
  readonly cwd: string;
  /** Further workspace folders. */
  readonly otherFolders: readonly string[];
  /** Name of the editor or program the user sits at. */
  readonly platform: string | undefined;
  readonly operatingSystem: string;
  /** Day of the session's birth, `2026-11-20`: no finer, or the prefix would never be reused. */
  readonly date: string;
};

type Layer = (facts: PromptFacts) => string | undefined;

/** behaviour.md §Prompt; a layer that has nothing to say is left out. */
const layers: readonly Layer[] = [
  ({ soul }) => soul?.trim() || DEFAULT_IDENTITY,
  guidance,
  ({ systemMessage }) => systemMessage,
  ({ memory }) => memory.memory,
  ({ memory }) => memory.user,
  ({ projectContext }) => projectContext,
  surroundings,
  ({ platform }) => platform && `The user sits at ${platform} and sees your tool calls, edits and plan there.`,
];

/** Joins the layers that have something to say, in their order. */
export function systemPrompt(facts: PromptFacts): string {
  return layers
    .map((layer) => layer(facts)?.trim() ?? "")
    .filter((text) => text !== "")
    .join("\n\n");
}

function guidance({ tools }: PromptFacts): string {
  const lines = GUIDANCE.filter((line) => line.tools?.every((tool) => tools.includes(tool)) ?? true);
  return ["How to work:", ...lines.map(({ text }) => `- ${text}`)].join("\n");
}

function surroundings({ cwd, otherFolders, operatingSystem, date }: PromptFacts): string {
  return [
    `Working folder: ${cwd}`,
    ...otherFolders.map((folder) => `Further workspace folder: ${folder}`),
    `Operating system: ${operatingSystem}`,
    `Date: ${date}`,
  ].join("\n");
}
