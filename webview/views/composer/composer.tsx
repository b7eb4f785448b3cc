/** The composer: writes prompts with their attachments, sends and stops. */
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Attachment } from "../../../agent-core/protocol/attachments.ts";
import { type Draft, emptyDraft, isSendable, newIn, shortLabel, titleOf, withText } from "../../state/attachments.ts";
import { seesPictures } from "../../state/config.ts";
import { wholeText } from "../../state/streamed-text.ts";
import { t } from "../../texts.ts";
import { Icon } from "../icon.tsx";
import { nameOf } from "../keys.ts";
import { usePanel } from "../panel-context.ts";
import { ComposerFoot } from "./composer-foot.tsx";
import { DraftField } from "./draft-field.tsx";

const QUEUE_HINTS = { own: t("Queue… (Ctrl+Enter: now)"), foreign: t("Queue a message…") } as const;
const SHORT_HINT = t("Queue…");

export function Composer() {
  const panel = usePanel();
  const { store, post, draft } = panel;
  const { running, commands, agentName, isForeign, facts } = store.shown.value;
  const suggested = newIn(draft.value, facts.suggested);
  const send = useSend(suggested);
  const recall = useRecall();
  const focusAbove = (kinds: readonly string[]): boolean =>
    focusOn(draft.peek().text === "" ? partAbove(kinds) : undefined);
  /** An action that returns false leaves the key to the browser. */
  const acts: Readonly<Record<string, (event: KeyboardEvent) => unknown>> = {
    Enter: () => send(false),
    "ctrl-Enter": () => send(true),
    "shift-Tab": () => focusAbove(ANY_PART),
    ArrowUp: (event) => focusAbove(URGENT_PART) || recall(event, 1) || focusAbove(START_PART),
    ArrowDown: (event) => recall(event, -1),
    ...(running && { Escape: () => post({ type: "cancel" }) }),
  };
  const onKey = (event: KeyboardEvent): void => {
    const act = acts[nameOf(event)];
    if (act !== undefined && act(event) !== false) event.preventDefault();
  };
  return (
    <div class="composer">
      <div class="composer-box">
        <DraftField
          label={t("Message {0}", agentName)}
          placeholder={running ? QUEUE_HINTS[isForeign ? "foreign" : "own"] : t("Ask {0}…", agentName)}
          shortHint={running ? SHORT_HINT : undefined}
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

/** Attachments that go with the draft, and what stays for the next message. A change of a setting takes none. */
function shared({ text, attachments }: Draft, suggested: readonly Attachment[]) {
  if (CHANGES_SETTING.test(text)) return { all: [], rest: { ...emptyDraft, attachments } };
  // A command needs no context.
  return { all: [...attachments, ...(text.startsWith("/") ? [] : suggested)], rest: emptyDraft };
}

const CHANGES_SETTING = /^\s*\/(?:mode|model|title|compress|usage|status|grants|help)\b/;

/** Sends the draft with `suggested`. `now`: into the running turn. */
function useSend(suggested: readonly Attachment[]): (now: boolean) => void {
  const { store, post, draft, memory } = usePanel();
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
    const { all, rest } = shared(draft.peek(), suggested);
    memory.addSent(text);
    post({ type: "prompt", text, ...(all.length > 0 && { attachments: all }), ...(now && { now }) });
    draft.value = rest;
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
      aria-label={isSuggesting ? t("Current File: {0}", label) : t("Current File")}
      title={
        isSuggesting
          ? t("{0}\nSent with the message. Click to leave it out.", title)
          : t("Send the Current File with the Message")
      }
      onClick={() => post({ type: "attach-suggested", on: !isSuggesting })}
    >
      <Icon name={isSuggesting ? "eye" : "eye-closed"} />
      <bdi class="chip-label">{isSuggesting ? label : t("Current File")}</bdi>
    </button>
  );
}

/**
 * Earlier messages of the session, then those of other sessions, as a terminal has its commands: the newest first, while
 * the message is empty or one of them. Returns false when there is none, or when the caret has another line to go to.
 */
function useRecall(): (event: KeyboardEvent, step: 1 | -1) => boolean {
  const { store, draft, memory } = usePanel();
  const recalled = useRef({ at: 0, text: "" });
  return ({ target }, step) => {
    const { text } = draft.peek();
    const before = text === "" ? 0 : recalled.current.at;
    const caret = target instanceof HTMLTextAreaElement ? target.selectionStart : 0;
    const isInside = (step === 1 ? text.slice(0, caret) : text.slice(caret)).includes("\n");
    if (isInside || (text !== "" && text !== recalled.current.text)) return false;
    const sent = store.state.entries.flatMap((entry) => (entry.type === "user" ? [wholeText(entry.text)] : []));
    const texts = ["", ...new Set([...sent.toReversed(), ...memory.sent.toReversed()].filter((one) => one !== ""))];
    const at = before + step;
    const next = texts[at];
    if (next === undefined) return false;
    recalled.current = { at, text: next };
    draft.value = withText(draft.peek(), next);
    return true;
  };
}

/** Parts above the message: a request, the queue, the page before the first message, and lines such as the review. */
const URGENT_PART = [".ask-card", ".queue [data-row]"];
const START_PART = [".offer-first, .start-list button"];
const ANY_PART = [...URGENT_PART, ".dock-lines > :has(button)", ...START_PART];

/** The lowest of the first kind that is there; of the page, its first button. */
function partAbove(kinds: readonly string[]): HTMLElement | undefined {
  const found = kinds.map((kind) => [...document.querySelectorAll<HTMLElement>(kind)]).find((all) => all.length > 0);
  return found?.[0]?.matches("button") ? found[0] : found?.at(-1);
}

/** A request takes the focus as a whole, so that no second key answers it. */
function focusOn(part: HTMLElement | undefined): boolean {
  const target = part?.matches(".ask-card, button") ? part : part?.querySelector("button");
  target?.focus();
  return target !== undefined && target !== null;
}
