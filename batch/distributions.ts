/** Distributions of toolsets: each is drawn by itself, with its chance in per cent. The numbers are the original's. */
import { createHash } from "node:crypto";

type Distribution = { readonly description: string; readonly toolsets: Readonly<Record<string, number>> };

const distributions: Readonly<Record<string, Distribution>> = {
  default: {
    description: "every toolset, always",
    toolsets: { web: 100, vision: 100, image_gen: 100, terminal: 100, file: 100, moa: 100, browser: 100 },
  },
  image_gen: {
    description: "pictures, with some research",
    toolsets: { image_gen: 90, vision: 90, web: 55, terminal: 45, moa: 10 },
  },
  research: {
    description: "research on the web",
    toolsets: { web: 90, browser: 70, vision: 50, moa: 40, terminal: 10 },
  },
  science: {
    description: "scientific problems, with commands and sources",
    toolsets: { web: 94, terminal: 94, file: 94, vision: 65, browser: 50, image_gen: 15, moa: 10 },
  },
  development: {
    description: "programming, rarely with the web",
    toolsets: { terminal: 80, file: 80, moa: 60, web: 30, vision: 10 },
  },
  safe: {
    description: "everything but commands",
    toolsets: { web: 80, browser: 70, vision: 60, image_gen: 60, moa: 50 },
  },
  balanced: {
    description: "each toolset for half of the tasks",
    toolsets: { web: 50, vision: 50, image_gen: 50, terminal: 50, file: 50, moa: 50, browser: 50 },
  },
  minimal: { description: "the web alone", toolsets: { web: 100 } },
  terminal_only: { description: "commands and files", toolsets: { terminal: 100, file: 100 } },
  terminal_web: { description: "commands, files and the web", toolsets: { terminal: 100, file: 100, web: 100 } },
  creative: { description: "pictures and their analysis", toolsets: { image_gen: 90, vision: 90, web: 30 } },
  reasoning: { description: "mixture of agents, few other tools", toolsets: { moa: 90, web: 30, terminal: 20 } },
  browser_use: { description: "work in the browser", toolsets: { browser: 100, web: 80, vision: 70 } },
  browser_only: { description: "the browser alone", toolsets: { browser: 100 } },
  browser_tasks: { description: "tasks for the browser", toolsets: { browser: 97, vision: 12, terminal: 15 } },
  terminal_tasks: {
    description: "tasks for the terminal",
    toolsets: { terminal: 97, file: 97, web: 97, browser: 75, vision: 50, image_gen: 10 },
  },
  mixed_tasks: {
    description: "browser and terminal together",
    toolsets: { browser: 92, terminal: 92, file: 92, web: 35, vision: 15, image_gen: 15 },
  },
};

export const distributionNames: readonly string[] = Object.keys(distributions);

export function distributionLines(): string {
  const lines = Object.entries(distributions).map(([name, { description, toolsets }]) => {
    const chances = Object.entries(toolsets).map(([toolset, chance]) => `${toolset} ${chance}%`);
    return `${name.padEnd(16)}${description}: ${chances.join(", ")}`;
  });
  return `${lines.join("\n")}\n`;
}

/** Toolsets of one task. The same seed and key give the same ones; without any, the likeliest one is drawn. */
export function drawToolsets(name: string, seed: number, key: string): readonly string[] {
  const chances = Object.entries(distributions[name]?.toolsets ?? {});
  const drawn = chances.filter(([toolset, chance]) => percentile(`${seed}\n${key}\n${toolset}`) < chance);
  const [likeliest] = chances.toSorted(([, first], [, second]) => second - first);
  const chosen = drawn.length > 0 || likeliest === undefined ? drawn : [likeliest];
  return chosen.map(([toolset]) => toolset);
}

/** A number from 0 up to 100 that looks random, and is the same for the same text. */
function percentile(text: string): number {
  return (createHash("sha256").update(text).digest().readUInt32BE() / 2 ** 32) * 100;
}
