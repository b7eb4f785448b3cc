/** Actions after a turn: remedies for the fault after an error, a copy and another try after an answer. */
import { useComputed } from "@preact/signals";
import { useState } from "preact/hooks";
import type { Panel } from "../../panel.ts";
import type { TextEntry, TurnEndEntry } from "../../state/state.ts";
import { wholeText } from "../../state/streamed-text.ts";
import { lastTurn } from "../../state/turns.ts";
import { t } from "../../texts.ts";
import { Icon, IconButton } from "../icon.tsx";
import { usePanel } from "../panel-context.ts";

/** Prompt that continues a turn whose answer or tool calls have already done some of the work. */
export const CONTINUE = t("Continue where you stopped.");

type Step = { readonly label: string; readonly act: (panel: Panel) => void };

const setKey: Step = { label: t("Set Key"), act: ({ post }) => post({ type: "set-key" }) };
const chooseModel: Step = { label: t("Choose Model"), act: chooseForTurn };
const goOn: Step = { label: t("Continue"), act: ({ post }) => post({ type: "prompt", text: CONTINUE }) };
const tryAgain: Step = { label: t("Try Again"), act: sendAgain };
const network: Step = {
  label: t("Open Settings"),
  act: ({ post }) => post({ type: "open-settings", about: "network" }),
};
const settings: Step = {
  label: t("Open Settings"),
  act: ({ post }) => post({ type: "open-settings", about: "hermes" }),
};
const log: Step = { label: t("Open Log"), act: ({ post }) => post({ type: "open-log" }) };
const compress: Step = { label: t("Compress"), act: ({ post }) => post({ type: "prompt", text: "/compress" }) };
const newSession: Step = { label: t("New Session"), act: (panel) => panel.newSession() };

/** Steps for a fault without steps of its own. */
const USUAL: readonly Step[] = [tryAgain, chooseModel];

/** Steps for each kind of fault and each early end, the most useful first. */
const steps: Readonly<Record<string, readonly Step[]>> = {
  authentication: [setKey, chooseModel, tryAgain],
  billing: [chooseModel, tryAgain],
  network: [tryAgain, network, chooseModel],
  malformed: [tryAgain, settings, chooseModel],
  "context-overflow": [compress, newSession, chooseModel],
  "model-not-found": [chooseModel, settings],
  "bad-request": [chooseModel, log],
  "unsupported-parameter": [chooseModel, log],
  unknown: [tryAgain, chooseModel, log],
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
            <button
              key={step.label}
              type="button"
              class={`button button-small ${index === 0 ? "button-primary" : "button-secondary"}`}
              onClick={() => step.act(panel)}
            >
              {step.label}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

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
      <IconButton
        icon={isCopied ? "check" : "copy"}
        name={t("Copy answer")}
        title={t("Copy answer as Markdown")}
        act={copy}
      />
      {isLast && (
        <>
          <IconButton
            icon="refresh"
            name={t("Try again")}
            title={t("Try again: replaces this turn")}
            act={() => resendLast(panel)}
          />
          <IconButton
            icon="arrow-swap"
            name={t("Try again with another model")}
            title={t("Try again with another model: replaces this turn")}
            act={() => chooseAndResend(panel)}
          />
        </>
      )}
    </div>
  );
}

/** True for the last entry of a session that waits for the user. */
function useIsLast(key: string): boolean {
  const { store, isReadOnly } = usePanel();
  return useComputed(() => {
    const { entries, open, running } = store.shown.value;
    // After a replay the last answer is still open for more text.
    return !isReadOnly && !running && (open ?? entries.at(-1))?.key === key;
  }).value;
}

/** Continues a turn that has called tools, so that its work is not repeated. */
function sendAgain(panel: Panel): void {
  if (lastTurn(panel.store.state).hasCalls) panel.post({ type: "prompt", text: CONTINUE });
  else resendLast(panel);
}

function chooseForTurn(panel: Panel): void {
  if (lastTurn(panel.store.state).hasCalls) panel.post({ type: "choose-model" });
  else chooseAndResend(panel);
}

function resendLast({ store, post }: Panel): void {
  const { prompt } = lastTurn(store.state);
  if (prompt === undefined) return;
  const { position, ...content } = prompt;
  post(position === undefined ? { type: "prompt", ...content } : { type: "resend", position, ...content });
}

function chooseAndResend({ store, post }: Panel): void {
  const { prompt } = lastTurn(store.state);
  if (prompt?.position === undefined) post({ type: "choose-model" });
  else post({ type: "choose-model", resend: { ...prompt, position: prompt.position } });
}
