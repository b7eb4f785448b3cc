/** What one sees before the first message: what this is, and something to try. */
import { isOffline } from "../state/config.ts";
import { usePanel } from "./panel-context.ts";

const EXAMPLES = [
  "replace two with TWO in a.txt then run cat a.txt",
  "list src then read README.md",
  'search "total" in src',
];

export function EmptyState({ onExample }: { readonly onExample: (text: string) => void }) {
  const { store, post } = usePanel();
  const { agentName, configOptions } = store.shown.value;
  return (
    <div class="empty">
      <h1>{agentName}</h1>
      <p>Reads, edits and runs things in this workspace. You review each edit, and risky commands ask first.</p>
      <div class="examples">
        {EXAMPLES.map((example) => (
          <button key={example} type="button" class="example" onClick={() => onExample(example)}>
            {example}
          </button>
        ))}
      </div>
      {isOffline(configOptions) && (
        <p class="empty-note">
          You are using the built-in offline interpreter. It understands requests like these and is not a language
          model.{" "}
          <button type="button" class="text-button" onClick={() => post({ type: "open-setup" })}>
            Set up a model
          </button>
        </p>
      )}
    </div>
  );
}
