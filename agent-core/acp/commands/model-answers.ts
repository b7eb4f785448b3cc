/** Answers of /model, /compress and /usage: the model, its window and its costs. */
import type { ModelGroup } from "../../agent/model-directory.ts";
import { UsageError } from "../../platform/errors.ts";
import { choiceId } from "../../providers/model-choice.ts";
import { stillBuilding } from "../../sessions/index/session-index.ts";
import type { UsageSum } from "../../sessions/usage-ledger.ts";
import { findModel } from "../find-model.ts";
import type { CommandSession } from "./command.ts";

/** Limit of names of one provider in the whole list. */
const NAMES_PER_PROVIDER = 15;
/** Limit of names when several models match. */
const MAX_MATCHES = 20;

export async function answerModel(argument: string, { model }: CommandSession): Promise<string> {
  const groups = await model.all();
  if (argument === "") return `Model: \`${choiceId(model.current)}\`. Available:\n\n${modelList(groups)}`;
  const found = findModel(argument, groups, model.current);
  switch (found.kind) {
    case "none":
      throw new UsageError(`No model matches \`${argument}\`. Available:\n\n${modelList(groups)}`);
    case "several": {
      const names = found.choices.map((choice) => `- \`${choiceId(choice)}\``);
      const more = names.length - MAX_MATCHES;
      const rest = more > 0 ? [`- … and ${more} more`] : [];
      return [`Several models match \`${argument}\`:`, "", ...names.slice(0, MAX_MATCHES), ...rest].join("\n");
    }
    case "one":
      return model.choose(found.choice) ?? `Model: \`${choiceId(found.choice)}\`.`;
  }
}

function modelList(groups: readonly ModelGroup[]): string {
  return groups
    .flatMap(({ provider, title, models }) => {
      const names = models.slice(0, NAMES_PER_PROVIDER).map(({ id }) => `\`${choiceId({ provider, model: id })}\``);
      const more = models.length - names.length;
      const rest = more > 0 ? `, and ${more} more: type part of the name after /model` : "";
      return names.length === 0 ? [] : [`- ${title}: ${names.join(", ")}${rest}`];
    })
    .join("\n");
}

export async function answerCompress(argument: string, { agent, signal }: CommandSession): Promise<string> {
  const done = await agent.compress(argument === "" ? undefined : argument, signal);
  if (done === undefined) return "Nothing to compress: the conversation is too short.";
  const { messages, tokensBefore, tokensAfter } = done;
  const [before, after] = [tokensBefore, tokensAfter].map((tokens) => tokens.toLocaleString("en"));
  return `Compressed ${messages} messages into a summary: ${before} → ${after} tokens. The messages stay in the journal.`;
}

export async function answerUsage({ agent, sessions: { index }, id }: CommandSession): Promise<string> {
  const { ledger, contextWindow } = agent.setup;
  const midnight = new Date().setHours(0, 0, 0, 0);
  const { value: today, building } = await index.ask("usageSince", midnight, id);
  return [
    "| | Input | Cached input | Output | Cost |",
    "|---|---:|---:|---:|---:|",
    row("This session", ledger.sum),
    row("Other sessions used today", today),
    "",
    ...(building === undefined ? [] : [`${stillBuilding(building)} Today's sessions may be missing.`, ""]),
    `Model: \`${agent.setup.models.current.model}\`. Context window: ${contextWindow().toLocaleString("en")} tokens.`,
  ].join("\n");
}

function row(
  name: string,
  {
    inputTokens,
    cachedInputTokens,
    outputTokens,
    costUsd,
  }: Pick<UsageSum, "inputTokens" | "cachedInputTokens" | "outputTokens" | "costUsd">,
): string {
  const counts = [inputTokens, cachedInputTokens, outputTokens].map((count) => count.toLocaleString("en"));
  const cost = costUsd === undefined ? "unknown" : `$${costUsd.toFixed(costUsd > 0 && costUsd < 0.1 ? 4 : 2)}`;
  return `| ${[name, ...counts, cost].join(" | ")} |`;
}
