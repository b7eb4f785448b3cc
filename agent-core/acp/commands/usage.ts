import { stillBuilding } from "../../sessions/index/session-index.ts";
import type { UsageSum } from "../../sessions/usage-sum.ts";
import type { Command } from "./command.ts";

export const command: Command = {
  name: "usage",
  description: "Show the tokens and costs of this session and of today",
  async run(_argument, { agent, index, id }) {
    const { contextWindow, usage } = agent;
    const midnight = new Date().setHours(0, 0, 0, 0);
    const { value: today, building } = await index.ask("usageSince", midnight, id);
    return [
      "| | Input | of it cached | Output | Cost |",
      "|---|---:|---:|---:|---:|",
      row("This session", usage),
      row("Other sessions used today", today),
      "",
      ...(building === undefined ? [] : [`${stillBuilding(building)} Today's sessions may be missing.`, ""]),
      `Model: \`${agent.model.model}\`, which sees ${contextWindow.toLocaleString("en")} tokens.`,
    ].join("\n");
  },
};

type Row = Pick<UsageSum, "inputTokens" | "cachedInputTokens" | "outputTokens" | "costUsd">;

function row(name: string, { inputTokens, cachedInputTokens, outputTokens, costUsd }: Row): string {
  const counts = [inputTokens, cachedInputTokens, outputTokens].map((count) => count.toLocaleString("en"));
  const cost = costUsd === undefined ? "unknown" : `$${costUsd.toFixed(costUsd > 0 && costUsd < 0.1 ? 4 : 2)}`;
  return `| ${[name, ...counts, cost].join(" | ")} |`;
}
