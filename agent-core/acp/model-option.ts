/** The model as the config option that editors show: grouped by provider, bounded, the current one always in it. */
import type { SessionConfigOption, SessionConfigSelectOption } from "@zed-industries/agent-client-protocol";
import type { ModelGroup } from "../agent/model-directory.ts";
import type { ListedModel } from "../providers/catalogue/listing.ts";
import { choiceId, type ModelChoice } from "../providers/choice.ts";
import { type ModelFacts, modelInfo } from "../providers/model-info.ts";

/** Id of the option. */
export const MODEL_OPTION = "model";

/** Choices of one provider that an editor's list can still be read with; `/model` reaches the others. */
const CHOICES_A_PROVIDER = 30;

/** The built-in model is never passed off as a language model. */
const OFFLINE = "offline";

export function modelOption(current: ModelChoice, groups: readonly ModelGroup[]): SessionConfigOption {
  const shown = groups.map((group) => ({ ...group, models: group.models.slice(0, CHOICES_A_PROVIDER) }));
  const options = withCurrent(shown, current, groups).map(({ provider, title, models }) => ({
    group: provider,
    name: title,
    options: models.map((model) => modelChoice(provider, model)),
  }));
  return {
    type: "select",
    id: MODEL_OPTION,
    name: "Model",
    category: "model",
    currentValue: choiceId(current),
    options: options.filter((group) => group.options.length > 0),
  };
}

/** One model as a choice: its name, and in a line its window and what a million tokens cost, in and out. */
export function modelChoice(provider: string, model: ListedModel): SessionConfigSelectOption {
  const value = choiceId({ provider, model: model.id });
  if (value === OFFLINE) {
    return { value, name: "Offline (not a language model)", description: "No key, no network: a few plain requests" };
  }
  return { value, name: model.name ?? model.id, description: modelLine(model.id, model.facts) };
}

function modelLine(id: string, told: ModelFacts | undefined): string | null {
  const { contextWindow, price, reasoning } = modelInfo(id, told);
  const parts = [
    `${shortCount(contextWindow)} tokens`,
    ...(reasoning ? ["reasons"] : []),
    ...(price ? [`$${price.input}/$${price.output} per M`] : []),
  ];
  return parts.join(" · ");
}

/** The chosen one stands at the end of its provider's choices when the bound left it out or the list does not have it. */
function withCurrent(
  shown: readonly ModelGroup[],
  current: ModelChoice,
  all: readonly ModelGroup[],
): readonly ModelGroup[] {
  const own = shown.find(({ provider }) => provider === current.provider);
  if (own?.models.some(({ id }) => id === current.model)) return shown;
  const listed = all
    .find(({ provider }) => provider === current.provider)
    ?.models.find(({ id }) => id === current.model);
  const model = listed ?? { id: current.model };
  if (own === undefined) {
    const group = { provider: current.provider, title: current.provider, models: [model], told: false };
    return [group, ...shown];
  }
  return shown.map((group) => (group === own ? { ...group, models: [...group.models, model] } : group));
}

function shortCount(tokens: number): string {
  return tokens >= 1_000_000 ? `${Math.round(tokens / 100_000) / 10}M` : `${Math.round(tokens / 1_000)}k`;
}
