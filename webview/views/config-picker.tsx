/** One of the session's settings as a compact list: mode, model, thought level. */
import { choiceGroups, currentChoice, type SelectOption } from "../state/config.ts";
import { usePanel } from "./panel-context.ts";
import { SearchPicker } from "./search-picker.tsx";

/** A longer list is searched. */
const LONGEST_LIST = 12;

export function ConfigPicker({ option }: { readonly option: SelectOption }) {
  const { post } = usePanel();
  const choices = choiceGroups(option).flatMap((group) => group.choices);
  // Models come and go while one looks, and lead to more: theirs is never a mere list.
  if (option.category === "model" || choices.length > LONGEST_LIST) return <SearchPicker option={option} />;
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
          {option.category === "thought_level" ? `${name} effort` : name}
        </option>
      ))}
    </select>
  );
}
