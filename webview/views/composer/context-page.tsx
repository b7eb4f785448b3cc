/** Page above the composer: contents of the context window, and usage of the session. */
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { HermesContext, HermesContextPart } from "../../../agent-core/protocol/sessions.ts";
import type { UsageState } from "../../state/state.ts";
import { t } from "../../texts.ts";
import { formatCost, formatCount } from "../format.ts";
import { Button, IconButton } from "../icon.tsx";
import { onKeys } from "../keys.ts";
import { usePanel } from "../panel-context.ts";
import { keepAbove } from "../place-above.ts";

type ContextPageProps = { readonly usage: UsageState; readonly close: () => void };

export function ContextPage({ usage, close }: ContextPageProps) {
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
export function percent(used: number, size: number): number {
  return size > 0 ? Math.min(100, Math.round((used / size) * 100)) : 0;
}
