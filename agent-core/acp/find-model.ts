/** The model that somebody means who typed a part of its name. Pure. */
import type { ModelGroup } from "../agent/model-directory.ts";
import { choiceId, type ModelChoice, parseChoice } from "../providers/choice.ts";

export type FoundModel =
  | { readonly kind: "one"; readonly choice: ModelChoice }
  | { readonly kind: "several"; readonly choices: readonly ModelChoice[] }
  | { readonly kind: "none" };

/**
 * Exact names before parts of them; all words of `query` must occur. A name that is in no list is taken at its word when
 * its provider has not told what it has.
 */
export function findModel(query: string, groups: readonly ModelGroup[]): FoundModel {
  const wanted = query.trim().toLowerCase();
  const all = groups.flatMap(({ provider, models }) => models.map(({ id, name }) => ({ provider, model: id, name })));
  const exact = all.filter(({ provider, model, name }) =>
    [model, choiceId({ provider, model }), name].some((candidate) => candidate?.toLowerCase() === wanted),
  );
  if (exact.length > 0) return outcome(exact);
  const words = wanted.split(/\s+/);
  const similar = all.filter(({ provider, model, name = "" }) => {
    const text = `${provider}:${model} ${name}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return similar.length > 0 ? outcome(similar) : atItsWord(query.trim(), groups);
}

function outcome(found: readonly ModelChoice[]): FoundModel {
  const choices = found.map(({ provider, model }) => ({ provider, model }));
  const [only] = choices;
  return only !== undefined && choices.length === 1 ? { kind: "one", choice: only } : { kind: "several", choices };
}

function atItsWord(name: string, groups: readonly ModelGroup[]): FoundModel {
  const choice = parseChoice(name);
  const silent = groups.filter(({ told }) => !told);
  const group = silent.find(({ provider }) => provider === choice?.provider);
  if (choice !== undefined && group !== undefined) return { kind: "one", choice };
  const [first] = silent;
  if (first === undefined || /\s/.test(name)) return { kind: "none" };
  return { kind: "one", choice: { provider: first.provider, model: name } };
}
