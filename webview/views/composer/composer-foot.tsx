/** Line under the composer's text: options of the session, fill level of the context, stop and send. */
import type { ContextPressure } from "../../state/agent-meta.ts";
import type { UsageState } from "../../state/state.ts";
import { ConfigPicker } from "../config-picker.tsx";
import { Icon } from "../icon.tsx";
import { usePanel } from "../panel-context.ts";
import { formatCount } from "../words.ts";

export function ComposerFoot({ canSend, onSend }: { readonly canSend: boolean; readonly onSend: () => void }) {
  const { store, post } = usePanel();
  const { running, configOptions, usage } = store.shown.value;
  return (
    <div class="composer-foot">
      <div class="pickers">
        {configOptions.map((option) => option.type === "select" && <ConfigPicker key={option.id} option={option} />)}
      </div>
      {usage && <UsageMeter usage={usage} />}
      {running && (
        <button
          type="button"
          class="send-button"
          title="Stop (Escape)"
          aria-label="Stop"
          onClick={() => post({ type: "cancel" })}
        >
          <Icon name="debug-stop" />
        </button>
      )}
      {(!running || canSend) && (
        <button
          type="button"
          class="send-button"
          title={running ? "Queue (Enter). Send into the running turn (Ctrl+Enter)" : "Send (Enter)"}
          aria-label={running ? "Queue" : "Send"}
          disabled={!canSend}
          onClick={onSend}
        >
          <Icon name="send" />
        </button>
      )}
    </div>
  );
}

const pressureNotes: Readonly<Record<ContextPressure, string>> = {
  low: "",
  high: "\nNearly full: the agent will soon summarise older messages.",
  full: "\nFull: the agent can summarise no more, and withholds tools with long results. Start a new session.",
};

/** Fill level of the context window, and cost of the session. */
function UsageMeter({ usage: { used, size, cost, pressure } }: { readonly usage: UsageState }) {
  const share = size > 0 ? Math.min(100, Math.round((used / size) * 100)) : 0;
  const price = cost ? ` · ${cost.amount.toFixed(2)} ${cost.currency}` : "";
  const label = `Context: ${formatCount(used)} of ${formatCount(size)} tokens (${share} %)${price}${pressureNotes[pressure]}`;
  return (
    <span class={`usage usage-${pressure}`} title={label}>
      <meter min={0} max={100} value={share} aria-label={label} />
      {share}%
    </span>
  );
}
