/** What an untrusted workspace means, and the way out of it. */
import { Icon } from "./icon.tsx";
import { usePanel } from "./panel-context.ts";

export function TrustLine() {
  const { store, post } = usePanel();
  if (store.shown.value.facts.isTrusted) return null;
  return (
    <div class="agent-line trust-line" role="status">
      <Icon name="shield" />
      <span>
        This workspace is not trusted: the agent talks and reads, and writes and runs nothing.{" "}
        <button type="button" class="text-button" onClick={() => post({ type: "manage-trust" })}>
          Manage trust
        </button>
      </span>
    </div>
  );
}
