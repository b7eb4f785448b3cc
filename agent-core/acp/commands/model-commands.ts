/** /model, /compress and /usage: the model, its window and its costs. */
import type { ModelGroup } from "../../agent/model-directory.ts";
import { choiceId, type ModelChoice, parseChoice } from "../../providers/choice.ts";
import { stillBuilding } from "../../sessions/index/session-index.ts";
import type { UsageSum } from "../../sessions/usage-ledger.ts";
import type { Command } from "./command.ts";

/** Names of one provider in the whole list. */
const NAMES_PER_PROVIDER = 15;
/** Names when several models match. */
const MAX_MATCHES = 20;

export const model: Command = {
  name: "model",
  description: "Show the models there are, or take another one",
  hint: "name, or a part of it",
  async run(argument, { model }) {
    const groups = await model.all();
    if (argument === "") return `Model: \`${choiceId(model.current)}\`. There are:\n\n${modelList(groups)}`;
    const found = findModel(argument, groups, model.current);
    switch (found.kind) {
      case "none":
        return `There is no model \`${argument}\`. There are:\n\n${modelList(groups)}`;
      case "several": {
        const names = found.choices.map((choice) => `- \`${choiceId(choice)}\``);
        const more = names.length - MAX_MATCHES;
        const rest = more > 0 ? [`- … and ${more} more`] : [];
        return [`Several models fit \`${argument}\`:`, "", ...names.slice(0, MAX_MATCHES), ...rest].join("\n");
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
      const rest = more > 0 ? `, and ${more} more: type a part of the name after /model` : "";
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
  const withoutList = groups.filter(({ isListed: told }) => !told);
  const group = withoutList.find(({ provider }) => provider === choice?.provider);
  if (choice !== undefined && group !== undefined) return { kind: "one", choice };
  const [first] = withoutList;
  if (first === undefined || /\s/.test(name)) return { kind: "none" };
  return { kind: "one", choice: { provider: first.provider, model: name } };
}

export const compress: Command = {
  name: "compress",
  description: "Let a summary stand for older messages now",
  hint: "what to keep in mind above all",
  async run(argument, { agent, signal }) {
    const done = await agent.compress(argument === "" ? undefined : argument, signal);
    if (done === undefined) return "There is nothing to compress: the conversation is short.";
    const { messages, tokensBefore, tokensAfter } = done;
    const [before, after] = [tokensBefore, tokensAfter].map((tokens) => tokens.toLocaleString("en"));
    return `A summary stands for ${messages} messages now: ${before} → ${after} tokens. The messages stay in the journal.`;
  },
};

export const usage: Command = {
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
