/** The model that a user means by a name, in the chat, on the command line or in an editor's options. */
import type { ModelGroup } from "../agent/model-directory.ts";
import { choiceId, type ModelChoice, parseChoice } from "../providers/model-choice.ts";

type FoundModel =
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
