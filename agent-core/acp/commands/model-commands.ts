/** /model, /compress and /usage: the model, its window and its costs. */
import type { ModelGroup } from "../../agent/model-directory.ts";
import { UsageError } from "../../platform/errors.ts";
import { choiceId, type ModelChoice, parseChoice } from "../../providers/model-choice.ts";
import { stillBuilding } from "../../sessions/index/session-index.ts";
import type { UsageSum } from "../../sessions/usage-ledger.ts";
import type { Command } from "./command.ts";

/** Limit of names of one provider in the whole list. */
const NAMES_PER_PROVIDER = 15;
/** Limit of names when several models match. */
const MAX_MATCHES = 20;

export const model: Command = {
  name: "model",
  description: "List the available models, or switch to one",
  hint: "name or part of a name",
  async run(argument, { model }) {
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
  },
};

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

export type FoundModel =
  | { readonly kind: "one"; readonly choice: ModelChoice }
  | { readonly kind: "several"; readonly choices: readonly ModelChoice[] }
  | { readonly kind: "none" };

/**
 * The model that a typed name means. Exact names win over parts, and the current provider over others; a part must have
 * all words of `query`. An unlisted name is accepted when its provider has not listed its models.
 */
export function findModel(query: string, groups: readonly ModelGroup[], current: ModelChoice): FoundModel {
  const wanted = query.trim().toLowerCase();
  const all = groups.flatMap(({ provider, models }) => models.map(({ id, name }) => ({ provider, model: id, name })));
  const exact = all.filter(({ provider, model, name }) =>
    [model, choiceId({ provider, model }), name].some((candidate) => candidate?.toLowerCase() === wanted),
  );
  const near = exact.filter(({ provider }) => provider === current.provider);
  if (exact.length > 0) return outcome(near.length > 0 ? near : exact);
  const words = wanted.split(/\s+/);
  const similar = all.filter(({ provider, model, name = "" }) => {
    const text = `${provider}:${model} ${name}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return similar.length > 0 ? outcome(similar) : unlisted(query.trim(), groups);
}

function outcome(found: readonly ModelChoice[]): FoundModel {
  const choices = found.map(({ provider, model }) => ({ provider, model }));
  const [only] = choices;
  return only !== undefined && choices.length === 1 ? { kind: "one", choice: only } : { kind: "several", choices };
}

function unlisted(name: string, groups: readonly ModelGroup[]): FoundModel {
  const choice = parseChoice(name);
  const withoutList = groups.filter(({ isListed }) => !isListed);
  const group = withoutList.find(({ provider }) => provider === choice?.provider);
  if (choice !== undefined && group !== undefined) return { kind: "one", choice };
  const [first] = withoutList;
  if (first === undefined || /\s/.test(name)) return { kind: "none" };
  return { kind: "one", choice: { provider: first.provider, model: name } };
}

export const compress: Command = {
  name: "compress",
  description: "Summarise older messages now",
  hint: "what the summary must keep",
  async run(argument, { agent, signal }) {
    const done = await agent.compress(argument === "" ? undefined : argument, signal);
    if (done === undefined) return "Nothing to compress: the conversation is too short.";
    const { messages, tokensBefore, tokensAfter } = done;
    const [before, after] = [tokensBefore, tokensAfter].map((tokens) => tokens.toLocaleString("en"));
    return `Compressed ${messages} messages into a summary: ${before} → ${after} tokens. The messages stay in the journal.`;
  },
};

export const usage: Command = {
  name: "usage",
  description: "Show the tokens and cost of this session and of today",
  async run(_argument, { agent, index, id }) {
    const { contextWindow, usage } = agent;
    const midnight = new Date().setHours(0, 0, 0, 0);
    const { value: today, building } = await index.ask("usageSince", midnight, id);
    return [
      "| | Input | Cached input | Output | Cost |",
      "|---|---:|---:|---:|---:|",
      row("This session", usage),
      row("Other sessions used today", today),
      "",
      ...(building === undefined ? [] : [`${stillBuilding(building)} Today's sessions may be missing.`, ""]),
      `Model: \`${agent.model.model}\`. Context window: ${contextWindow.toLocaleString("en")} tokens.`,
    ].join("\n");
  },
};

type Row = Pick<UsageSum, "inputTokens" | "cachedInputTokens" | "outputTokens" | "costUsd">;

function row(name: string, { inputTokens, cachedInputTokens, outputTokens, costUsd }: Row): string {
  const counts = [inputTokens, cachedInputTokens, outputTokens].map((count) => count.toLocaleString("en"));
  const cost = costUsd === undefined ? "unknown" : `$${costUsd.toFixed(costUsd > 0 && costUsd < 0.1 ? 4 : 2)}`;
  return `| ${[name, ...counts, cost].join(" | ")} |`;
}
