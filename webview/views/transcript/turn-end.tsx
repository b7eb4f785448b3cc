/** Actions after a turn: remedies for the fault after an error, a copy and another try after an answer. */
import { useComputed } from "@preact/signals";
import { useState } from "preact/hooks";
import type { PanelMessage } from "../../../agent-core/protocol/panel-messages.ts";
import type { Panel } from "../../panel.ts";
import type { TextEntry, TurnEndEntry } from "../../state/state.ts";
import { wholeText } from "../../state/streamed-text.ts";
import { lastTurn } from "../../state/turns.ts";
import { t } from "../../texts.ts";
import { Button, Icon, type IconAction, IconButtons } from "../icon.tsx";
import { usePanel } from "../panel-context.ts";

/** Prompt that continues a turn whose answer or tool calls have already done some of the work. */
export const CONTINUE = t("Continue where you stopped.");

type Step = { readonly label: string; readonly act: (panel: Panel, entry: TurnEndEntry) => void };

const setKey: Step = { label: t("Set Key"), act: askForKey };
const chooseModel: Step = { label: t("Choose Model"), act: (panel) => choose(panel, again(panel)) };
const goOn: Step = { label: t("Continue"), act: ({ post }) => post({ type: "prompt", text: CONTINUE }) };
const tryAgain: Step = { label: t("Try Again"), act: (panel) => send(panel, again(panel)) };
const settings = (about: "hermes" | "network"): Step => ({
  label: t("Open Settings"),
  act: ({ post }) => post({ type: "open-settings", about }),
});
const log: Step = { label: t("Open Log"), act: ({ post }) => post({ type: "open-log" }) };
const compress: Step = { label: t("Compress"), act: ({ post }) => post({ type: "prompt", text: "/compress" }) };
const goOnInMain: Step = {
  label: t("Go On in the Main Folder"),
  act: (panel) => panel.post({ type: "prompt", text: "", ...lastPrompt(panel), inMain: true }),
};
const undo: Step = { label: t("Undo"), act: ({ post }) => post({ type: "prompt", text: "/undo" }) };
const newSession: Step = { label: t("New Session"), act: (panel) => panel.newSession() };

/** Steps for a fault without steps of its own. */
const USUAL: readonly Step[] = [tryAgain, chooseModel];

/** Steps for each kind of fault and each early end, the most useful first. */
const steps: Readonly<Record<string, readonly Step[]>> = {
  authentication: [setKey, chooseModel, tryAgain],
  billing: [chooseModel, tryAgain],
  network: [tryAgain, settings("network"), chooseModel],
  malformed: [tryAgain, settings("hermes"), chooseModel],
  "context-overflow": [compress, newSession, chooseModel],
  "model-not-found": [chooseModel, settings("hermes")],
  "bad-request": [undo, chooseModel, log],
  filtered: [undo, chooseModel],
  "unsupported-parameter": [chooseModel, log],
  unknown: [tryAgain, chooseModel, log],
  "folder-gone": [goOnInMain, newSession],
  cancelled: [],
  max_tokens: [goOn, chooseModel],
  max_turn_requests: [goOn],
  refusal: [tryAgain, chooseModel],
};

export function TurnEnd({ entry }: { readonly entry: TurnEndEntry }) {
  const panel = usePanel();
  const isLast = useIsLast(entry.key);
  const isError = entry.tone === "error";
  const known = entry.fault === undefined ? [tryAgain, log] : (steps[entry.fault] ?? USUAL);
  return (
    <div class="entry">
      <div class={`turn-end turn-end-${entry.tone}`} role={isError ? "alert" : undefined}>
        {isError && <Icon name="error" />} <span dir="auto">{entry.text}</span>
      </div>
      {isLast && known.length > 0 && (
        <div class="turn-steps">
          {known.map((step, index) => (
            <Button
              key={step.label}
              kind={index === 0 ? "primary" : "secondary"}
              isSmall
              onClick={() => step.act(panel, entry)}
            >
              {step.label}
            </Button>
          ))}
        </div>
      )}
    </div>
  );
}

const AGAIN = [
  [send, "refresh", t("Try Again"), t("Try Again: replaces this turn")],
  [choose, "arrow-swap", t("Try Again with Another Model"), t("Try Again with Another Model: replaces this turn")],
] as const;

/** Actions on an answer. The last one can be tried again, with this model or another. */
export function AnswerActions({ entry }: { readonly entry: TextEntry }) {
  const panel = usePanel();
  const isLast = useIsLast(entry.key);
  const [isCopied, setCopied] = useState(false);
  const copy = (): void => {
    navigator.clipboard.writeText(wholeText(entry.text)).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  };
  return (
    <div class={isLast ? "answer-actions" : "message-actions"}>
      <IconButtons
        of={[
          [isCopied ? "check" : "copy", t("Copy Answer"), t("Copy Answer as Markdown"), copy],
          ...(isLast ? AGAIN.map(([act, ...look]): IconAction => [...look, () => act(panel, lastPrompt(panel))]) : []),
        ]}
      />
    </div>
  );
}

/** True for the last entry, notices aside, of a session that waits for the user. */
function useIsLast(key: string): boolean {
  const { store, isReadOnly } = usePanel();
  return useComputed(() => {
    const { entries, open, running } = store.shown.value;
    // After a replay the last answer is still open for more text.
    const last = open ?? entries.findLast(({ type }) => type !== "notice");
    return !isReadOnly && !running && last?.key === key;
  }).value;
}

type Again = Extract<PanelMessage, { type: "set-key" }>["again"];

/** Message for a failed turn once its cause is gone. A turn that has called tools continues, so that no work is repeated. */
function again(panel: Panel): Again {
  return lastTurn(panel.store.state).hasCalls ? { text: CONTINUE } : lastPrompt(panel);
}

/** The user's last message; it replaces itself when the agent has it. */
function lastPrompt({ store }: Panel): Again {
  const { prompt } = lastTurn(store.state);
  if (prompt === undefined) return undefined;
  const { position, ...content } = prompt;
  return { ...content, ...(position !== undefined && { position }) };
}

function send({ post }: Panel, message: Again): void {
  if (message === undefined) return;
  const { position, ...content } = message;
  post(position === undefined ? { type: "prompt", ...content } : { type: "resend", position, ...content });
}

function choose({ post }: Panel, message: Again): void {
  post({ type: "choose-model", ...(message && { again: message }) });
}

/** Asks for the key of the provider that failed, else for a provider first. */
function askForKey(panel: Panel, { keyFor }: TurnEndEntry): void {
  const message = again(panel);
  const provider = keyFor === undefined ? {} : ({ provider: keyFor, keyOnly: true } as const);
  panel.post({ type: "set-key", ...provider, ...(message && { again: message }) });
}
