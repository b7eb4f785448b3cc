/** Parts that open and close, and stay as the user left them. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Icon } from "./icon.tsx";
import { usePanel } from "./panel-context.ts";

/** `id`: name of the panel's memory for the part. */
export function useOpen(id: string, byDefault: boolean): readonly [isOpen: boolean, setOpen: (open: boolean) => void] {
  const { memory } = usePanel();
  const [chosen, choose] = useState<boolean | undefined>(undefined);
  const setOpen = (open: boolean): void => {
    memory.setOpen(id, open);
    choose(open);
  };
  return [chosen ?? memory.isOpen(id, byDefault), setOpen];
}

type FoldHeadProps = {
  readonly isOpen: boolean;
  readonly onToggle: () => void;
  readonly title?: string;
  /** The search of the conversation opens it. */
  readonly hides?: boolean;
  readonly children: ComponentChildren;
};

export function FoldHead({ isOpen, onToggle, title, hides = false, children }: FoldHeadProps) {
  return (
    <button
      type="button"
      class="fold-summary"
      aria-expanded={isOpen}
      data-hides={(hides && !isOpen) || undefined}
      title={title}
      onClick={onToggle}
    >
      {children}
      <Icon name={isOpen ? "chevron-down" : "chevron-right"} />
    </button>
  );
}

export type FoldProps = {
  readonly id: string;
  readonly openByDefault: boolean;
  readonly summary: ComponentChildren;
  readonly children: ComponentChildren;
  readonly class?: string;
};

export function Fold({ id, openByDefault, summary, children, class: name = "" }: FoldProps) {
  const [isOpen, setOpen] = useOpen(id, openByDefault);
  return (
    <div class={`fold ${name}`}>
      <FoldHead isOpen={isOpen} onToggle={() => setOpen(!isOpen)} hides>
        {summary}
      </FoldHead>
      {isOpen && <div class="fold-body">{children}</div>}
    </div>
  );
}
