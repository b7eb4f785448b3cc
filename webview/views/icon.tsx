/** Icons of VS Code's icon font, and buttons that show only an icon. */

export function Icon({ name, spin = false }: { readonly name: string; readonly spin?: boolean }) {
  return <span class={`codicon codicon-${name}${spin ? " codicon-modifier-spin" : ""}`} aria-hidden="true" />;
}

type IconButtonProps = {
  readonly icon: string;
  /** Label for screen readers. */
  readonly name: string;
  readonly title: string;
  readonly act: (event: { readonly currentTarget: HTMLElement }) => void;
  readonly class?: string;
};

export function IconButton({ icon, name, title, act, class: own = "" }: IconButtonProps) {
  return (
    <button type="button" class={`icon-button ${own}`.trimEnd()} title={title} aria-label={name} onClick={act}>
      <Icon name={icon} />
    </button>
  );
}
