/** The options of a session that editors show: mode, model, reasoning effort. */
import type {
  SessionConfigOption,
  SessionConfigSelectOption,
  SessionMode,
  SessionModeState,
} from "@zed-industries/agent-client-protocol";
import type { ModelGroup } from "../agent/model-directory.ts";
import type { ApprovalMode } from "../approval/decision.ts";
import type { ListedModel } from "../providers/catalogue/listing.ts";
import { choiceId, type ModelChoice } from "../providers/model-choice.ts";
import { type ModelFacts, modelInfo } from "../providers/model-info.ts";
import type { Sampling } from "../providers/wire/wire.ts";

export const MODEL_OPTION = "model";

/** Models listed per provider: an editor's list must stay readable. `/model` finds the others. */
const CHOICES_PER_PROVIDER = 30;

/** Id of the built-in interpreter, which is not a language model. */
const OFFLINE = "offline";

/** Lists the models by provider; the current one is always among them. */
export function modelOption(current: ModelChoice, groups: readonly ModelGroup[]): SessionConfigOption {
  const shown = groups.map((group) => ({ ...group, models: group.models.slice(0, CHOICES_PER_PROVIDER) }));
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

/** One model as a choice: its name, its window, and its price of a million input and output tokens. */
export function modelChoice(provider: string, model: ListedModel): SessionConfigSelectOption {
  const value = choiceId({ provider, model: model.id });
  if (value === OFFLINE) {
    return { value, name: "Offline (not a language model)", description: "No key, no network: a few plain requests" };
  }
  return { value, name: model.name ?? model.id, description: modelLine(model.id, model.facts) };
}

function modelLine(id: string, reported: ModelFacts | undefined): string | null {
  const { contextWindow, price, reasoning } = modelInfo(id, reported);
  const millions = `${Math.round(contextWindow / 100_000) / 10}M`;
  const parts = [
    `${contextWindow >= 1_000_000 ? millions : `${Math.round(contextWindow / 1_000)}k`} tokens`,
    ...(reasoning ? ["reasons"] : []),
    ...(price ? [`$${price.input}/$${price.output} per M`] : []),
  ];
  return parts.join(" · ");
}

/** Adds the current model to the choices of its provider when it is not among them. */
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
    const group = { provider: current.provider, title: current.provider, models: [model], isListed: false };
    return [group, ...shown];
  }
  return shown.map((group) => (group === own ? { ...group, models: [...group.models, model] } : group));
}

export type Effort = NonNullable<Sampling["reasoningEffort"]>;

export const EFFORT_OPTION = "reasoning_effort";

/** The provider's own default. */
export const DEFAULT_EFFORT = "default";

export type ChosenEffort = Effort | typeof DEFAULT_EFFORT;

const EFFORTS: readonly { readonly value: ChosenEffort; readonly name: string }[] = [
  { value: DEFAULT_EFFORT, name: "Default" },
  { value: "minimal", name: "Minimal" },
  { value: "low", name: "Low" },
  { value: "medium", name: "Medium" },
  { value: "high", name: "High" },
];

/** Undefined when `value` is not an effort. */
export function effortOf(value: string): ChosenEffort | undefined {
  return EFFORTS.find((effort) => effort.value === value)?.value;
}

export function effortOption(current: Effort | undefined): SessionConfigOption {
  return {
    type: "select",
    id: EFFORT_OPTION,
    name: "Reasoning effort",
    description: "How long the model thinks before it answers",
    category: "thought_level",
    currentValue: current ?? DEFAULT_EFFORT,
    options: EFFORTS.map((effort) => ({ ...effort })),
  };
}

export const DEFAULT_MODE: ApprovalMode = "code";

const MODES: readonly (SessionMode & { readonly id: ApprovalMode })[] = [
  { id: "ask", name: "Ask", description: "Asks before every edit and every command that is not read-only" },
  { id: "code", name: "Code", description: "Writes edits for your review; asks before risky commands" },
  { id: "plan", name: "Plan", description: "Reads only, then presents a plan for approval" },
  {
    id: "auto",
    name: "Auto",
    description:
      "Asks only for protected files, and before a command leaves the sandbox; without a sandbox it asks as Code does",
  },
];

export function modeOf(id: string): ApprovalMode | undefined {
  return MODES.find((mode) => mode.id === id)?.id;
}

/** Comma-separated, for messages. */
export function modeIds(): string {
  return MODES.map((mode) => mode.id).join(", ");
}

/** ACP's older form of `modeOption`. */
export function modeState(current: ApprovalMode): SessionModeState {
  return { currentModeId: current, availableModes: [...MODES] };
}

export function modeOption(current: ApprovalMode): SessionConfigOption {
  return {
    type: "select",
    id: "mode",
    name: "Mode",
    description: "Which actions need approval",
    category: "mode",
    currentValue: current,
    options: MODES.map(({ id, name, description }) => ({ value: id, name, description: description ?? null })),
  };
}
