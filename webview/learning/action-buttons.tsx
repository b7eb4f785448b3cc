/** Buttons for the actions of a row. One action asks a question first, which takes the place of the buttons. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { t } from "../texts.ts";
import { Button, Icon } from "../views/icon.tsx";
import { onKeys } from "../views/keys.ts";

type ActionButtonsProps<Action extends string> = {
  /** Name of the row, for screen readers. */
  readonly name: string;
  /** An action of the row has not ended. */
  readonly isRunning: boolean;
  readonly labels: Readonly<Record<Action, string>>;
  /** In the order of the buttons. */
  readonly actions: readonly Action[];
  /** The action with a button of its own colour. Default: none. */
  readonly primary?: Action;
  /** The action that asks `question` first. */
  readonly asked: Action;
  readonly question: string;
  readonly act: (action: Action) => void;
};

export function ActionButtons<Action extends string>(props: ActionButtonsProps<Action>) {
  const { name, isRunning, labels, actions, primary, asked, act } = props;
  const { question, isAsking, ask } = useQuestion();
  return (
    <div ref={question}>
      {isAsking ? (
        <Confirm question={props.question} yes={labels[asked]} act={() => act(asked)} ask={ask} />
      ) : (
        <div class="learning-actions">
          {actions.map((action) => (
            <button
              key={action}
              type="button"
              class={action === primary ? "button button-small button-primary" : "text-button"}
              aria-label={`${labels[action]}: ${name}`}
              aria-disabled={isRunning}
              data-asks={action === asked || undefined}
              onClick={() => (action === asked ? ask(true) : act(action))}
            >
              {labels[action]}
            </button>
          ))}
          {isRunning && <Icon name="loading" spin />}
        </div>
      )}
    </div>
  );
}

/** A question in place of buttons. The button that asks it, marked `data-asks`, gets the focus after it. */
function useQuestion() {
  const question = useRef<HTMLDivElement>(null);
  const [isAsking, ask] = useState<boolean | undefined>(undefined);
  useLayoutEffect(() => {
    if (isAsking === false) question.current?.querySelector<HTMLElement>("[data-asks]")?.focus();
  }, [isAsking]);
  return { question, isAsking, ask };
}

type ConfirmProps = {
  readonly question: ComponentChildren;
  readonly yes: string;
  readonly act: () => void;
  readonly ask: (isAsking: boolean) => void;
};

/** A question before an action that cannot be undone. Cancel has the focus, and Escape presses it. */
function Confirm({ question, yes, act, ask }: ConfirmProps) {
  const cancel = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => cancel.current?.focus(), []);
  const confirm = (): void => {
    ask(false);
    act();
  };
  return (
    <fieldset class="learning-actions" aria-label={yes} onKeyDown={onKeys({ Escape: () => ask(false) })}>
      <span>{question}</span>
      <Button kind="primary" isSmall onClick={confirm}>
        {yes}
      </Button>
      <Button kind="secondary" isSmall ref={cancel} onClick={() => ask(false)}>
        {t("Cancel")}
      </Button>
    </fieldset>
  );
}
