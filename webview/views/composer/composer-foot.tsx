/** Line under the composer's text: options of the session, fill level of the context with its page, stop and send. */
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { HermesContext, HermesContextPart } from "../../../agent-core/protocol/sessions.ts";
import type { ContextPressure } from "../../state/agent-meta.ts";
import type { UsageState } from "../../state/state.ts";
import { formatNumber, t } from "../../texts.ts";
import { ConfigPicker } from "../config-picker.tsx";
import { formatCost, formatCount } from "../format.ts";
import { Button, Icon, IconButton } from "../icon.tsx";
import { onKeys } from "../keys.ts";
import { usePanel } from "../panel-context.ts";
import { keepAbove } from "../place-above.ts";

export function ComposerFoot({ canSend, onSend }: { readonly canSend: boolean; readonly onSend: () => void }) {
  const { store, post } = usePanel();
  const { running, configOptions, usage, sessionId } = store.shown.value;
  return (
    <div class="composer-foot">
      <div class="pickers">
        {configOptions.map((option) => option.type === "select" && <ConfigPicker key={option.id} option={option} />)}
      </div>
      {usage && <ContextMeter key={sessionId} usage={usage} />}
      <span class="send-buttons">
        {running && (
          <button
            type="button"
            class="send-button"
            title={t("Stop (Escape)")}
            aria-label={t("Stop")}
            onClick={() => post({ type: "cancel" })}
          >
            <Icon name="debug-stop" />
          </button>
        )}
        {(!running || canSend) && (
          <button
            type="button"
            class="send-button"
            title={running ? t("Queue (Enter). Send into the running turn (Ctrl+Enter)") : t("Send (Enter)")}
            aria-label={running ? t("Queue") : t("Send")}
            disabled={!canSend}
            onClick={onSend}
          >
            <Icon name="send" />
          </button>
        )}
      </span>
    </div>
  );
}

const pressureNotes: Readonly<Record<ContextPressure, string>> = {
  low: "",
  high: t("Nearly full: the agent will soon summarise older messages."),
  full: t("Full: the agent can summarise no more, and withholds tools with long results. Start a new session."),
};

/** Fill level of the context window, and cost of the session. Agents other than Hermes say no more than that. */
function ContextMeter({ usage }: { readonly usage: UsageState }) {
  const { isForeign } = usePanel().store.shown.value;
  const { used, size, cost, pressure } = usage;
  const share = percent(used, size);
  const price = cost ? ` · ${formatNumber(cost.amount, 2)} ${cost.currency}` : "";
  const filled = t("Context: {0} of {1} tokens ({2}%)", formatCount(used), formatCount(size), share);
  const note = pressureNotes[pressure];
  const label = `${filled}${price}${note === "" ? "" : `\n${note}`}`;
  const box = useRef<HTMLSpanElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => (isOpen ? onPressOutside(box, () => setOpen(false)) : undefined), [isOpen]);
  const close = (): void => {
    setOpen(false);
    button.current?.focus();
  };
  const look = { class: `usage usage-${pressure}`, title: label };
  const meter = (
    <>
      <meter min={0} max={100} value={share} aria-hidden="true" />
      <span class="visually-hidden">{label}</span>
      <span aria-hidden="true">{share}%</span>
    </>
  );
  if (isForeign) return <span {...look}>{meter}</span>;
  return (
    <span
      ref={box}
      onFocusOut={({ relatedTarget }) => {
        if (relatedTarget instanceof Node && box.current?.contains(relatedTarget) === false) setOpen(false);
      }}
    >
      <button
        type="button"
        ref={button}
        {...look}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {meter}
      </button>
      {isOpen && <ContextPage usage={usage} close={close} />}
    </span>
  );
}

function onPressOutside(box: RefObject<HTMLElement | null>, act: () => void): () => void {
  const onPress = ({ target }: Event): void => {
    if (target instanceof Node && box.current?.contains(target) === false) act();
  };
  document.addEventListener("pointerdown", onPress);
  return () => document.removeEventListener("pointerdown", onPress);
}

type ContextPageProps = { readonly usage: UsageState; readonly close: () => void };

/** Page above the composer: contents of the context window, and usage of the session. */
function ContextPage({ usage, close }: ContextPageProps) {
  const { store, post } = usePanel();
  const { context, running } = store.shown.value;
  const page = useRef<HTMLDivElement>(null);
  // A new figure of the meter means new contents.
  useEffect(() => post({ type: "context-show" }), [usage, running]);
  useLayoutEffect(() => {
    const leave = keepAbove(page.current, page.current?.closest(".composer") ?? null);
    page.current?.focus();
    return leave;
  }, []);
  return (
    <div
      ref={page}
      class="context-page"
      role="dialog"
      aria-label={t("Context window")}
      tabIndex={-1}
      onKeyDown={onKeys({ Escape: close })}
    >
      <div class="context-head">
        <h2>{t("Context window")}</h2>
        <IconButton icon="close" name={t("Close")} title={t("Close (Escape)")} act={close} />
      </div>
      {context === undefined && <p class="context-note">{t("Loading…")}</p>}
      {context !== undefined && "problem" in context && <p role="alert">{context.problem}</p>}
      {context !== undefined && "parts" in context && <Contents context={context} running={running} close={close} />}
    </div>
  );
}

const partNames: Readonly<Record<HermesContextPart, string>> = {
  "system-prompt": t("System prompt"),
  instructions: t("Project instructions"),
  memory: t("Memory"),
  skills: t("List of skills"),
  tools: t("Tools"),
  notes: t("Summary and notes"),
  user: t("Your messages"),
  answers: t("Answers"),
  results: t("Tool results"),
  hooks: t("Texts of hooks"),
  pictures: t("Pictures"),
};

type ContentsProps = { readonly context: HermesContext; readonly running: boolean; readonly close: () => void };

function Contents({ context: { used, window, parts, models, canCompress }, running, close }: ContentsProps) {
  const { post } = usePanel();
  const free = formatCount(Math.max(0, window - used));
  const compress = (): void => {
    close();
    post({ type: "prompt", text: "/compress" });
  };
  return (
    <>
      <p>
        {t("{0} of {1} tokens ({2}%), {3} free", formatCount(used), formatCount(window), percent(used, window), free)}
      </p>
      <ul class="context-parts" aria-label={t("Estimated tokens of each part")}>
        {parts.map(
          ({ part, tokens }) => tokens > 0 && <Part key={part} name={partNames[part]} of={used} tokens={tokens} />,
        )}
      </ul>
      <p class="context-note">{t("The parts are estimated.")}</p>
      {models.length > 0 && (
        <>
          <h3>{t("Session so far")}</h3>
          <ul class="context-models" aria-label={t("Tokens and cost by model")}>
            {models.map((model) => (
              <li key={model.model}>
                <bdi>{model.model}</bdi>
                <span class="context-note">{usageText(model)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      <Button
        kind="secondary"
        isSmall
        disabled={running || !canCompress}
        title={compressTitle(running, canCompress)}
        onClick={compress}
      >
        {t("Compress Now")}
      </Button>
    </>
  );
}

type PartProps = { readonly name: string; readonly tokens: number; readonly of: number };

function Part({ name, tokens, of }: PartProps) {
  return (
    <li>
      <span>{name}</span>
      <span class="context-count">
        {formatCount(tokens)}
        <span class="visually-hidden"> {t("tokens")}</span>
      </span>
      <meter min={0} max={of} value={tokens} aria-hidden="true" />
    </li>
  );
}

function usageText({ inputTokens, cachedInputTokens, outputTokens, costUsd }: HermesContext["models"][number]): string {
  const [sent, received] = [formatCount(inputTokens), formatCount(outputTokens)] as const;
  const tokens =
    cachedInputTokens > 0
      ? t("{0} in ({1} cached), {2} out", sent, formatCount(cachedInputTokens), received)
      : t("{0} in, {1} out", sent, received);
  return `${tokens} · ${costUsd === undefined ? t("cost unknown") : (formatCost(costUsd) ?? "$0")}`;
}

function compressTitle(running: boolean, canCompress: boolean): string {
  if (running) return t("Not while a turn runs");
  return canCompress
    ? t("Replace older messages by a summary for the model")
    : t("The conversation is too short to compress");
}

/** Whole percent, at most 100. */
function percent(used: number, size: number): number {
  return size > 0 ? Math.min(100, Math.round((used / size) * 100)) : 0;
}
