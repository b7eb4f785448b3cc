/** Picker of a session option: a select for a short list, a searchable popup for a long one. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import {
  type ChoiceGroup,
  choiceGroups,
  currentChoice,
  matchingGroups,
  type SelectOption,
  shortChoice,
} from "../state/config.ts";
import { t } from "../texts.ts";
import { Icon } from "./icon.tsx";
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
  const groups = matchingGroups(choiceGroups(option), query);
  const values = groups.flatMap(({ choices }) => choices.map(({ value }) => value));
  const [active, setActive] = useState(option.currentValue);
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
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Escape") onClose();
    else if (event.key === "ArrowDown") setActive(values[(at + 1) % values.length] ?? "");
    else if (event.key === "ArrowUp") setActive(values[(at - 1 + values.length) % values.length] ?? "");
    else if (event.key === "Enter" && event.target === field.current) choose(values[at]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
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
      />
      <ChoiceList
        id={listId}
        label={option.name}
        groups={groups}
        active={values[at]}
        current={option.currentValue}
        onChoose={choose}
      />
      {option.category === "model" && (
        <div class="popup-foot">
          <button type="button" class="text-button" onClick={() => post({ type: "choose-model" })}>
            <Icon name="list-unordered" /> {t("All models…")}
          </button>
          <button type="button" class="text-button" onClick={() => post({ type: "set-key" })}>
            <Icon name="key" /> {t("Set API key…")}
          </button>
        </div>
      )}
    </div>
  );
}

type ChoiceListProps = {
  readonly id: string;
  readonly label: string;
  readonly groups: readonly ChoiceGroup[];
  /** The choice that Enter takes. */
  readonly active: string | undefined;
  /** The current choice. */
  readonly current: string;
  readonly onChoose: (value: string) => void;
};

/** Choices in groups; the active one stays in view. */
function ChoiceList({ id, label, groups, active, current, onChoose }: ChoiceListProps) {
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    list.current?.querySelector(".choice-active")?.scrollIntoView({ block: "nearest" });
  }, [active]);
  const numbers = new Map(groups.flatMap(({ choices }) => choices).map(({ value }, index) => [value, index]));
  return (
    <div class="choices" id={id} role="listbox" aria-label={label} ref={list}>
      {groups.length === 0 && <div class="choice-none">{t("No matching model.")}</div>}
      {groups.map(({ name, choices }) => (
        <div key={name ?? ""}>
          {name !== undefined && (
            <div class="choice-group" aria-hidden="true">
              {name}
            </div>
          )}
          {choices.map((choice) => (
            <div
              key={choice.value}
              id={`${id}-${numbers.get(choice.value)}`}
              role="option"
              aria-label={name === undefined ? choice.name : `${choice.name}, ${name}`}
              tabIndex={-1}
              aria-selected={choice.value === current}
              class={`choice${choice.value === active ? " choice-active" : ""}`}
              title={choice.description ?? choice.name}
              // A click would take the focus out of the search field.
              onMouseDown={(event) => {
                event.preventDefault();
                onChoose(choice.value);
              }}
            >
              <span class="choice-mark">{choice.value === current && <Icon name="check" />}</span>
              <span class="choice-text">
                <span class="choice-name">{choice.name}</span>
                {choice.description && <span class="choice-note">{choice.description}</span>}
              </span>
            </div>
          ))}
        </div>
      ))}
    </div>
  );
}
