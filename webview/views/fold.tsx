/** A fold that stays open or closed as the user left it. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Icon } from "./icon.tsx";
import { usePanel } from "./panel-context.ts";

export type FoldProps = {
  /** Name of the panel's memory for this fold. */
  readonly id: string;
  readonly openByDefault: boolean;
  readonly summary: ComponentChildren;
  readonly children: ComponentChildren;
  readonly class?: string;
};

export function Fold({ id, openByDefault, summary, children, class: name = "" }: FoldProps) {
  const { memory } = usePanel();
  const [chosen, choose] = useState<boolean | undefined>(undefined);
  const open = chosen ?? memory.isOpen(id, openByDefault);
  const toggle = (): void => {
    memory.setOpen(id, !open);
    choose(!open);
  };
  return (
    <div class={`fold ${name}`}>
      <button type="button" class="fold-summary" aria-expanded={open} data-hides={!open || undefined} onClick={toggle}>
        {summary}
        <Icon name={open ? "chevron-down" : "chevron-right"} />
      </button>
      {open && <div class="fold-body">{children}</div>}
    </div>
  );
}
