/** Choices in their groups; the one that Enter would take is kept in view. */
import { useLayoutEffect, useRef } from "preact/hooks";
import type { ChoiceGroup } from "../state/config.ts";
import { Icon } from "./icon.tsx";

export type ChoiceListProps = {
  readonly id: string;
  readonly label: string;
  readonly groups: readonly ChoiceGroup[];
  /** What Enter would take. */
  readonly active: string | undefined;
  /** What is chosen now. */
  readonly current: string;
  readonly onChoose: (value: string) => void;
};

export function ChoiceList({ id, label, groups, active, current, onChoose }: ChoiceListProps) {
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    list.current?.querySelector(".choice-active")?.scrollIntoView({ block: "nearest" });
  }, [active]);
  const numbers = new Map(groups.flatMap(({ choices }) => choices).map(({ value }, index) => [value, index]));
  return (
    <div class="choices" id={id} role="listbox" aria-label={label} ref={list}>
      {groups.length === 0 && <div class="choice-none">No such model here.</div>}
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
              // The caret stays in the field.
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
