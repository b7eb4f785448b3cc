/** Commands that complete what is being typed. */
import type { AvailableCommand } from "@zed-industries/agent-client-protocol";
import { useLayoutEffect, useRef } from "preact/hooks";
import { placeAbove } from "./place-above.ts";

export type CommandListProps = {
  readonly commands: readonly AvailableCommand[];
  readonly chosen: number;
  readonly onChoose: (command: AvailableCommand) => void;
};

export function CommandList({ commands, chosen, onChoose }: CommandListProps) {
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    placeAbove(list.current, list.current?.parentElement ?? null);
    list.current?.querySelector(".command-chosen")?.scrollIntoView({ block: "nearest" });
  }, [commands.length, chosen]);
  if (commands.length === 0) return null;
  return (
    <div class="commands" id="commands" role="listbox" aria-label="Commands" ref={list}>
      {commands.map((command, index) => (
        <div
          key={command.name}
          role="option"
          tabIndex={-1}
          aria-selected={index === chosen}
          class={`command${index === chosen ? " command-chosen" : ""}`}
          // The caret must stay in the text: a click would take it before it chose.
          onMouseDown={(event) => {
            event.preventDefault();
            onChoose(command);
          }}
        >
          <span class="command-name">/{command.name}</span>
          <span class="command-description">{command.description}</span>
        </div>
      ))}
    </div>
  );
}
