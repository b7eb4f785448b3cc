/** Icons of VS Code's icon font, buttons with a text or only an icon, and words of the agent. */
import type { JSX } from "preact";
import { visibleText } from "../../agent-core/platform/visible-text.ts";
import type { PanelMessage } from "../../agent-core/protocol/panel-messages.ts";
import { t } from "../texts.ts";
import { usePanel } from "./panel-context.ts";

export function Icon({ name, spin = false }: { readonly name: string; readonly spin?: boolean }) {
  return <span class={`codicon codicon-${name}${spin ? " codicon-modifier-spin" : ""}`} aria-hidden="true" />;
}

/** Words of the agent. A line breaks around an option such as `--force`, not after its hyphens. */
export function Words({ text }: { readonly text: string }) {
  const parts = visibleText(text).split(/((?<![\w-])--?\w[\w-]*)/);
  return <span>{parts.map((part, index) => (index % 2 === 0 ? part : <span class="option">{part}</span>))}</span>;
}

type ButtonProps = JSX.IntrinsicElements["button"] & {
  /** Default: a text that looks like a link. */
  readonly kind?: "primary" | "secondary";
  readonly isSmall?: true;
};

export function Button({ kind, isSmall, class: own = "", ...rest }: ButtonProps) {
  const look = kind === undefined ? "text-button" : `button ${isSmall ? "button-small " : ""}button-${kind}`;
  return <button type="button" {...rest} class={`${look} ${own}`.trimEnd()} />;
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

/** Icon, label, title, and the effect: a message to the host, or a call. */
export type IconAction = readonly [
  icon: string,
  name: string,
  title: string,
  act: PanelMessage | IconButtonProps["act"],
];

export function IconButtons({ of }: { readonly of: readonly IconAction[] }) {
  const { post } = usePanel();
  const button = ([icon, name, title, act]: IconAction, index: number) => (
    <IconButton key={index} {...{ icon, name, title }} act={typeof act === "function" ? act : () => post(act)} />
  );
  return <>{of.map(button)}</>;
}

/** Leads from a page to the conversation. */
export function BackButton({ act }: { readonly act: () => void }) {
  const title = t("Back to the Conversation (Escape)");
  return <IconButton icon="arrow-left" name={t("Back to the Conversation")} title={title} act={act} />;
}
