/** How long a reasoning model shall think, as a config option. */
import type { SessionConfigOption } from "@zed-industries/agent-client-protocol";
import type { Sampling } from "../providers/wire/wire.ts";

export type Effort = NonNullable<Sampling["reasoningEffort"]>;

/** Id of the option. */
export const EFFORT_OPTION = "reasoning_effort";

/** As the provider has it. */
export const DEFAULT_EFFORT = "default";

/** What can be chosen. */
export type ChosenEffort = Effort | typeof DEFAULT_EFFORT;

const EFFORTS: readonly { readonly value: ChosenEffort; readonly name: string }[] = [
  { value: DEFAULT_EFFORT, name: "Default" },
  { value: "minimal", name: "Minimal" },
  { value: "low", name: "Low" },
  { value: "medium", name: "Medium" },
  { value: "high", name: "High" },
];

/** Undefined when `value` is none. */
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
