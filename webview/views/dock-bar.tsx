/** A line of the dock that offers the user a few steps. */
import type { ComponentChildren } from "preact";
import { Icon } from "./icon.tsx";

export type DockStep = {
  readonly label: string;
  readonly title?: string;
  readonly isPrimary?: true;
  readonly run: () => void;
};

type DockBarProps = {
  readonly label: string;
  /** Before the steps; `DockText` for a plain text. */
  readonly children: ComponentChildren;
  readonly steps: readonly DockStep[];
};

export function DockBar({ label, children, steps }: DockBarProps) {
  return (
    <section class="review" aria-label={label}>
      <div class="review-head">
        {children}
        {steps.map(({ label: name, title, isPrimary, run }) => (
          <button
            key={name}
            type="button"
            class={`button button-small ${isPrimary ? "button-primary" : "button-secondary"}`}
            title={title}
            onClick={run}
          >
            {name}
          </button>
        ))}
      </div>
    </section>
  );
}

export function DockText({ icon, children }: { readonly icon: string; readonly children: ComponentChildren }) {
  return (
    <span class="review-undone" role="status">
      <Icon name={icon} /> {children}
    </span>
  );
}
