/** One of the session's settings as a compact list: mode, model, thought level. */
import { choiceGroups, currentChoice, type SelectOption } from "../state/config.ts";
import { usePanel } from "./panel-context.ts";

export function ConfigPicker({ option }: { readonly option: SelectOption }) {
  const { post } = usePanel();
  const groups = choiceGroups(option);
  const choices = groups.flatMap((group) => group.choices);
  // With one choice there is nothing to pick: it is shown as what it is.
  if (choices.length < 2) {
    return (
      <span class="config-fixed" title={`${option.name}: ${currentChoice(option)}`}>
        {currentChoice(option)}
      </span>
    );
  }
  const tip = choices.find(({ value }) => value === option.currentValue)?.description ?? currentChoice(option);
  return (
    <select
      class="config-picker"
      aria-label={option.name}
      title={`${option.name}: ${tip}`}
      value={option.currentValue}
      onChange={(event) => post({ type: "set-config", configId: option.id, value: event.currentTarget.value })}
    >
      {choices.map(({ value, name }) => (
        <option key={value} value={value}>
          {name}
        </option>
      ))}
    </select>
  );
}
