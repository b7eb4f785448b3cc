/** Picker of a session option: a select for a short list, a searchable popup for a long one. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { choiceGroups, currentChoice, matchingGroups, type SelectOption, shortChoice } from "../state/config.ts";
import { t } from "../texts.ts";
import { type ListRow, RowList } from "./composer/completion-list.tsx";
import { Button, Icon } from "./icon.tsx";
import { onKeys } from "./keys.ts";
import { usePanel } from "./panel-context.ts";
import { keepAbove } from "./place-above.ts";

/** Longer lists get a search. */
const LONGEST_LIST = 12;

export function ConfigPicker({ option }: { readonly option: SelectOption }) {
  const { post } = usePanel();
  const choices = choiceGroups(option).flatMap((group) => group.choices);
  // The list of models can change while it is open, and offers more actions.
  if (option.category === "model" || choices.length > LONGEST_LIST) return <SearchPicker option={option} />;
  // A single choice is shown as text.
  if (choices.length < 2) {
    return (
      <span class="config-fixed" title={`${option.name}: ${currentChoice(option)}`}>
        {currentChoice(option)}
      </span>
    );
  }
  const tip = choices.find(({ value }) => value === option.currentValue)?.description ?? currentChoice(option);
  return (
    <span class="config-select">
      <select
        class="config-picker"
        aria-label={option.name}
        title={`${option.name}: ${tip}`}
        value={option.currentValue}
        onChange={(event) => post({ type: "set-config", configId: option.id, value: event.currentTarget.value })}
      >
        {choices.map(({ value, name }) => (
          <option key={value} value={value}>
            {option.category === "thought_level" ? t("{0} effort", name) : name}
          </option>
        ))}
      </select>
      <Icon name="chevron-down" />
    </span>
  );
}

/** A button that opens a searchable list above the composer. */
function SearchPicker({ option }: { readonly option: SelectOption }) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const close = (): void => {
    setOpen(false);
    button.current?.focus();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        class="config-picker search-button"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        aria-label={`${option.name}: ${currentChoice(option)}`}
        title={`${option.name}: ${currentChoice(option)}`}
        onClick={() => setOpen(!isOpen)}
      >
        <span class="search-current">{shortChoice(option)}</span>
        <Icon name="chevron-down" />
      </button>
      {isOpen && <Popup option={option} button={button.current} onClose={close} onLeave={() => setOpen(false)} />}
    </>
  );
}

function rowsOf(option: SelectOption, query: string, choose: (value: string) => void): readonly ListRow[] {
  return matchingGroups(choiceGroups(option), query).flatMap(({ name: group, choices }) =>
    choices.map(({ value, name, description }, index): ListRow => {
      const isCurrent = value === option.currentValue;
      return {
        key: value,
        icon: isCurrent ? "check" : "blank",
        name,
        label: group === undefined ? name : `${name}, ${group}`,
        detail: description ?? undefined,
        title: description ?? name,
        group: index === 0 ? group : undefined,
        isCurrent,
        choose: () => choose(value),
      };
    }),
  );
}

type PopupProps = {
  readonly option: SelectOption;
  readonly button: HTMLButtonElement | null;
  /** Closes the popup and focuses the button. */
  readonly onClose: () => void;
  /** The focus has left the popup. */
  readonly onLeave: () => void;
};

function Popup({ option, button, onClose, onLeave }: PopupProps) {
  const { post } = usePanel();
  const [query, setQuery] = useState("");
  const [active, setActive] = useState(option.currentValue);
  const rows = rowsOf(option, query, (value) => choose(value));
  const values = rows.map(({ key }) => key);
  const at = Math.max(0, values.indexOf(active));
  const popup = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    const leave = keepAbove(popup.current, button?.closest(".composer") ?? null);
    field.current?.focus();
    return leave;
  }, []);
  const choose = (value: string | undefined): void => {
    if (value !== undefined && value !== option.currentValue) {
      post({ type: "set-config", configId: option.id, value });
    }
    onClose();
  };
  const onKeyDown = onKeys({
    Escape: onClose,
    ArrowDown: () => setActive(values[(at + 1) % values.length] ?? ""),
    ArrowUp: () => setActive(values[(at - 1 + values.length) % values.length] ?? ""),
  });
  const listId = `choices-${option.id}`;
  return (
    <div
      ref={popup}
      class="popup"
      role="dialog"
      aria-label={option.name}
      onKeyDown={onKeyDown}
      onFocusOut={({ relatedTarget }) => {
        const isInside =
          relatedTarget instanceof Node && (popup.current?.contains(relatedTarget) || relatedTarget === button);
        if (!isInside) onLeave();
      }}
    >
      <input
        ref={field}
        type="text"
        role="combobox"
        aria-label={t("Search: {0}", option.name)}
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={values[at] === undefined ? undefined : `${listId}-${at}`}
        placeholder={t("Type a part of the name")}
        value={query}
        onInput={(event) => setQuery(event.currentTarget.value)}
        onKeyDown={onKeys({ Enter: () => choose(values[at]) })}
      />
      <RowList
        id={listId}
        label={option.name}
        rows={rows}
        chosen={at}
        note={rows.length === 0 ? t("No matching model.") : undefined}
      />
      {option.category === "model" && (
        <div class="popup-foot">
          <Button onClick={() => post({ type: "choose-model" })}>
            <Icon name="list-unordered" /> {t("All Models…")}
          </Button>
          <Button onClick={() => post({ type: "set-key" })}>
            <Icon name="key" /> {t("Set API Key…")}
          </Button>
        </div>
      )}
    </div>
  );
}
