/** A long list of choices behind a button: opens above the composer, is searched by typing, and works by keyboard. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { choiceGroups, currentChoice, matchingGroups, type SelectOption, shortChoice } from "../state/config.ts";
import { ChoiceList } from "./choice-list.tsx";
import { Icon } from "./icon.tsx";
import { usePanel } from "./panel-context.ts";

export function SearchPicker({ option }: { readonly option: SelectOption }) {
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
  /** Closes it and goes back to the button. */
  readonly onClose: () => void;
  /** The focus went elsewhere by itself. */
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
    place(popup.current, button);
    field.current?.focus();
  }, []);
  const choose = (value: string | undefined): void => {
    if (value !== undefined && value !== option.currentValue) {
      post({ type: "set-config", configId: option.id, value });
    }
    onClose();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
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
        aria-label={`Search: ${option.name}`}
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={values[at] === undefined ? undefined : `${listId}-${at}`}
        placeholder="Type a part of the name"
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
            <Icon name="list-unordered" /> All models…
          </button>
          <button type="button" class="text-button" onClick={() => post({ type: "set-key" })}>
            <Icon name="key" /> Set API key…
          </button>
        </div>
      )}
    </div>
  );
}

/** Above the composer: fixed, since what scrolls would cut it off. */
function place(popup: HTMLDivElement | null, button: HTMLButtonElement | null): void {
  const composer = button?.closest(".composer")?.getBoundingClientRect();
  if (popup === null || composer === undefined) return;
  popup.style.left = `${composer.left}px`;
  popup.style.width = `${composer.width}px`;
  popup.style.bottom = `${window.innerHeight - composer.top + 4}px`;
  popup.style.maxHeight = `${Math.max(120, composer.top - 12)}px`;
}
