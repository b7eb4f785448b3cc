/** The session's settings that the composer offers: mode, model, thought level and whatever else an agent declares. */
import type { SessionConfigOption, SessionConfigSelectOption } from "@zed-industries/agent-client-protocol";

/** An option that is a choice from a list. */
export type SelectOption = Extract<SessionConfigOption, { type: "select" }>;
/** A part of the list; `name` is undefined for choices that are in no group. */
export type ChoiceGroup = { readonly name: string | undefined; readonly choices: readonly SessionConfigSelectOption[] };

/** The choices of an option, in groups. */
export function choiceGroups(option: SelectOption): readonly ChoiceGroup[] {
  const groups: ChoiceGroup[] = [];
  const loose: SessionConfigSelectOption[] = [];
  for (const item of option.options) {
    if ("group" in item) groups.push({ name: item.name, choices: item.options });
    else loose.push(item);
  }
  return loose.length > 0 ? [{ name: undefined, choices: loose }, ...groups] : groups;
}

/** The name of the current choice, or its value when the list does not have it. */
export function currentChoice(option: SelectOption): string {
  for (const group of choiceGroups(option)) {
    const choice = group.choices.find((candidate) => candidate.value === option.currentValue);
    if (choice) return choice.name;
  }
  return option.currentValue;
}

/** The current choice for a place with little room: without what explains it in brackets. */
export function shortChoice(option: SelectOption): string {
  return currentChoice(option).replace(/ \(.*\)$/, "");
}

/** The options with the one of category "mode" set to `modeId`: what `current_mode_update` says. */
export function withMode(options: readonly SessionConfigOption[], modeId: string): readonly SessionConfigOption[] {
  return options.map((option) =>
    option.type === "select" && option.category === "mode" ? { ...option, currentValue: modeId } : option,
  );
}

/** Name of the model in use; undefined when the agent does not tell. */
export function modelName(options: readonly SessionConfigOption[]): string | undefined {
  const option = options.find(({ category }) => category === "model");
  return option?.type === "select" ? currentChoice(option) : undefined;
}

/** True when the chosen model is the built-in one that works without a network. */
export function isOffline(options: readonly SessionConfigOption[]): boolean {
  return options.some(
    (option) =>
      option.type === "select" &&
      option.category === "model" &&
      (option.currentValue === "offline" || /\boffline\b/i.test(currentChoice(option))),
  );
}

/** The groups with those choices in which every word of `query` occurs; empty groups are left out. */
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
