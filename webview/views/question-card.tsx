/** A question of the agent: its choices, an answer of one's own, or none. */
import { useState } from "preact/hooks";
import type { QuestionRequest } from "../state/state.ts";
import { Icon } from "./icon.tsx";
import { usePanel } from "./panel-context.ts";

export function QuestionCard({ request: { requestId, message, choices } }: { readonly request: QuestionRequest }) {
  const { post } = usePanel();
  const [typed, setTyped] = useState("");
  const answer = (text: string | null): void => post({ type: "answer", requestId, text });
  const label = `question-${requestId}`;
  return (
    <div class="ask-card" role="alertdialog" aria-labelledby={label}>
      <div class="ask-title" id={label} dir="auto">
        <Icon name="question" /> {message}
      </div>
      <div class="ask-buttons">
        {choices.map((choice) => (
          <button key={choice} type="button" class="button button-secondary" onClick={() => answer(choice)}>
            {choice}
          </button>
        ))}
      </div>
      <form
        class="ask-reason"
        onSubmit={(event) => {
          event.preventDefault();
          if (typed.trim() !== "") answer(typed.trim());
        }}
      >
        <input
          type="text"
          aria-label="Your answer"
          placeholder={choices.length > 0 ? "Another answer" : "Your answer"}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <button type="submit" class="button button-primary" disabled={typed.trim() === ""}>
          Answer
        </button>
        <button type="button" class="button button-secondary" onClick={() => answer(null)}>
          Skip
        </button>
      </form>
    </div>
  );
}
