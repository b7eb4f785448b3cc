/** Line under the composer's text: options of the session, fill level of the context, stop and send. */
import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ContextPressure } from "../../state/agent-meta.ts";
import type { UsageState } from "../../state/state.ts";
import { formatNumber, t } from "../../texts.ts";
import { ConfigPicker } from "../config-picker.tsx";
import { formatCount } from "../format.ts";
import { Icon } from "../icon.tsx";
import { usePanel } from "../panel-context.ts";
import { ContextPage, percent } from "./context-page.tsx";

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
