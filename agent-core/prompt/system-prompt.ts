/**
 * The system prompt: layers in a fixed order, built once a session and then frozen, so that the prefix of every
 * request stays the same to the byte.
 */
import { DEFAULT_IDENTITY, GUIDANCE } from "./texts.ts";

export type PromptFacts = {
  /** Text of SOUL.md; undefined for the built-in identity. */
  readonly soul: string | undefined;
  /** What the caller wants said on top (`systemMessage` of a conversation). */
  readonly systemMessage: string | undefined;
  readonly cwd: string;
  /** Further workspace folders. */
  readonly otherFolders: readonly string[];
  /** Name of the editor or program the user sits at. */
  readonly platform: string | undefined;
  readonly operatingSystem: string;
  /** Day of the session's birth, `2026-11-20`: no finer, or the prefix would never be reused. */
  readonly date: string;
};

/** Joins the layers that have something to say, in their order. */
export function systemPrompt(facts: PromptFacts): string {
  const layers = [facts.soul?.trim() || DEFAULT_IDENTITY, GUIDANCE, facts.systemMessage, surroundings(facts)];
  return layers
    .map((layer) => layer?.trim() ?? "")
    .filter((layer) => layer !== "")
    .join("\n\n");
}

function surroundings({ cwd, otherFolders, platform, operatingSystem, date }: PromptFacts): string {
  const lines = [
    `Working folder: ${cwd}`,
    ...otherFolders.map((folder) => `Further workspace folder: ${folder}`),
    `Operating system: ${operatingSystem}`,
    `Date: ${date}`,
  ];
  if (platform !== undefined)
    lines.push(`The user sits at ${platform} and sees your tool calls, edits and plan there.`);
  return lines.join("\n");
}
