/** Options of the session: mode, model, thought level, and any other option of the agent. */
import type { SessionConfigOption, SessionConfigSelectOption } from "@zed-industries/agent-client-protocol";
import { fieldsOf } from "./agent-meta.ts";

/** An option that is a choice from a list. */
export type SelectOption = Extract<SessionConfigOption, { type: "select" }>;
/** `name` is undefined for choices without a group. */
export type ChoiceGroup = { readonly name: string | undefined; readonly choices: readonly SessionConfigSelectOption[] };

export function choiceGroups(option: SelectOption): readonly ChoiceGroup[] {
  const groups: ChoiceGroup[] = [];
  const loose: SessionConfigSelectOption[] = [];
  for (const item of option.options) {
    if ("group" in item) groups.push({ name: item.name, choices: item.options });
    else loose.push(item);
  }
  return loose.length > 0 ? [{ name: undefined, choices: loose }, ...groups] : groups;
}

/** Name of the current choice; its value when the list does not have it. */
export function currentChoice(option: SelectOption): string {
  for (const group of choiceGroups(option)) {
    const choice = group.choices.find((candidate) => candidate.value === option.currentValue);
    if (choice) return choice.name;
  }
  return option.currentValue;
}

/** Name of the current choice without its explanation in brackets. */
export function shortChoice(option: SelectOption): string {
  return currentChoice(option).replace(/ \(.*\)$/, "");
}

/** Sets the option of category "mode", as `current_mode_update` requests. */
export function withMode(options: readonly SessionConfigOption[], modeId: string): readonly SessionConfigOption[] {
  return options.map((option) =>
    option.type === "select" && option.category === "mode" ? { ...option, currentValue: modeId } : option,
  );
}

/** Undefined when the agent has no option for the model. */
export function modelName(options: readonly SessionConfigOption[]): string | undefined {
  const option = options.find(({ category }) => category === "model");
  return option?.type === "select" ? currentChoice(option) : undefined;
}

/** True for the built-in interpreter, which needs no network. */
export function isOffline(options: readonly SessionConfigOption[]): boolean {
  return options.some(
    (option) =>
      option.type === "select" &&
      option.category === "model" &&
      (option.currentValue === "offline" || /\boffline\b/i.test(currentChoice(option))),
  );
}

/** Choices that contain every word of `query`, without empty groups. */
export function matchingGroups(groups: readonly ChoiceGroup[], query: string): readonly ChoiceGroup[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ name }: ChoiceGroup, choice: SessionConfigSelectOption): boolean => {
    const text = `${name ?? ""} ${choice.name} ${choice.value}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  return groups
    .map((group) => ({ ...group, choices: group.choices.filter((choice) => fits(group, choice)) }))
    .filter(({ choices }) => choices.length > 0);
}

/** The current model is not known to refuse pictures. */
export function seesPictures(options: readonly SessionConfigOption[]): boolean {
  const model = options.find(({ category }) => category === "model");
  return fieldsOf(model?._meta?.["hermes"])["refusesImages"] !== true;
}
