/** The composer: writes prompts with their attachments, sends and stops. */
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Attachment } from "../../../agent-core/protocol/attachments.ts";
import { emptyDraft, isSendable, newIn, shortLabel, titleOf } from "../../state/attachments.ts";
import { seesPictures } from "../../state/config.ts";
import { t } from "../../texts.ts";
import { Icon } from "../icon.tsx";
import { usePanel } from "../panel-context.ts";
import { ComposerFoot } from "./composer-foot.tsx";
import { DraftField } from "./draft-field.tsx";

const QUEUE_HINTS = { own: t("Queue… (Ctrl+Enter: now)"), foreign: t("Queue a message…") } as const;

export function Composer() {
  const panel = usePanel();
  const { store, post, draft } = panel;
  const { running, commands, agentName, isForeign, facts } = store.shown.value;
  const suggested = newIn(draft.value, facts.suggested);
  const send = useSend(suggested);
  const act: Readonly<Record<KeyAction, () => void>> = {
    send: () => send(false),
    "send-now": () => send(true),
    up: () => partAbove()?.focus(),
    stop: () => post({ type: "cancel" }),
  };
  const onKey = (event: KeyboardEvent): void => {
    const canGoUp = draft.peek().text === "" && partAbove() !== undefined;
    const action = keyAction(event, { running, canGoUp });
    if (action === undefined) return;
    event.preventDefault();
    act[action]();
  };
  return (
    <div class="composer">
      <div class="composer-box">
        <DraftField
          label={t("Message {0}", agentName)}
          placeholder={running ? QUEUE_HINTS[isForeign ? "foreign" : "own"] : t("Ask {0}…", agentName)}
          draft={draft}
          commands={commands}
          focus={panel.composerFocus.value}
          onKey={onKey}
          suggestion={facts.isSuggesting && suggested.length === 0 ? undefined : <Suggestion suggested={suggested} />}
        >
          <ComposerFoot canSend={isSendable(draft.value)} onSend={() => send(false)} />
        </DraftField>
      </div>
    </div>
  );
}

/** Sends the draft with `suggested`. `now`: into the running turn. */
function useSend(suggested: readonly Attachment[]): (now: boolean) => void {
  const { store, post, draft } = usePanel();
  const { configOptions } = store.shown.value;
  const isReading = (draft.value.reading ?? 0) > 0;
  const waiting = useRef<{ readonly now: boolean } | undefined>(undefined);
  const send = (now: boolean): void => {
    const { text, attachments } = draft.peek();
    // A picture that was just pasted belongs to the message.
    waiting.current = isReading ? { now } : undefined;
    if (isReading || !isSendable(draft.peek())) return;
    if (!seesPictures(configOptions) && attachments.some(({ kind }) => kind === "picture")) {
      draft.value = { ...draft.peek(), note: t("The model sees no pictures. Remove them, or choose another model.") };
      return;
    }
    // A command needs no context.
    const all = [...attachments, ...(text.startsWith("/") ? [] : suggested)];
    post({ type: "prompt", text, ...(all.length > 0 && { attachments: all }), ...(now && { now }) });
    draft.value = emptyDraft;
  };
  useLayoutEffect(() => {
    if (!isReading && waiting.current !== undefined) send(waiting.current.now);
  }, [isReading]);
  return send;
}

type SuggestionProps = { readonly suggested: readonly Attachment[] };

/** The active file or selection, which goes with the message until the user switches it off. */
function Suggestion({ suggested }: SuggestionProps) {
  const { store, post } = usePanel();
  const { isSuggesting } = store.shown.value.facts;
  const label = suggested.map((one) => shortLabel(one.label)).join(", ");
  const title = suggested.map(titleOf).join("\n");
  return (
    <button
      type="button"
      class="chip chip-suggested"
      aria-pressed={isSuggesting}
      aria-label={isSuggesting ? t("Current file: {0}", label) : t("Current file")}
      title={
        isSuggesting
          ? t("{0}\nSent with the message. Click to leave it out.", title)
          : t("Send the current file with the message")
      }
      onClick={() => post({ type: "attach-suggested", on: !isSuggesting })}
    >
      <Icon name={isSuggesting ? "eye" : "eye-closed"} />
      <bdi class="chip-label">{isSuggesting ? label : t("Current file")}</bdi>
    </button>
  );
}

/**
 * Part of another view that the up key leads to: a request, the last queued message, the lowest line such as the review,
 * or the page before the first message. A request takes the focus as a whole, so that no second key answers it.
 */
function partAbove(): HTMLElement | undefined {
  const last = (selector: string) => [...document.querySelectorAll<HTMLElement>(selector)].at(-1);
  return (
    last(".ask-card") ??
    last(".queue [data-row]")?.querySelector("button") ??
    last(".dock-lines > :has(button)")?.querySelector("button") ??
    document.querySelector<HTMLElement>(".offer-first, .start-list button") ??
    undefined
  );
}

type KeyAction = "send" | "send-now" | "up" | "stop";

type Typing = {
  readonly running: boolean;
  /** The message is empty, and something is above it. */
  readonly canGoUp: boolean;
};

/** Undefined for a key that only types. */
function keyAction(event: KeyboardEvent, { running, canGoUp }: Typing): KeyAction | undefined {
  switch (event.key) {
    case "ArrowUp":
      return canGoUp ? "up" : undefined;
    case "Enter":
      if (event.shiftKey) return undefined;
      return event.ctrlKey || event.metaKey ? "send-now" : "send";
    case "Escape":
      return running ? "stop" : undefined;
    default:
      return undefined;
  }
}
