/** Requests of the agent: permission for a call, and questions. */
import type { PermissionOption } from "@zed-industries/agent-client-protocol";
import { useEffect, useState } from "preact/hooks";
import type { PermissionRequest, QuestionRequest } from "../state/state.ts";
import { DiffView } from "./diff-view.tsx";
import { Icon } from "./icon.tsx";
import { usePanel } from "./panel-context.ts";

/** Delay before the buttons work: a click meant for something else must not approve a new request. Milliseconds. */
const ARM_MS = 400;

/** Shows the whole call and the reasons for the request. */
export function PermissionCard({ request }: { readonly request: PermissionRequest }) {
  const { post } = usePanel();
  const [armed, arm] = useState(false);
  const [reason, setReason] = useState<string | undefined>(undefined);
  useEffect(() => {
    const timer = setTimeout(() => arm(true), ARM_MS);
    return () => clearTimeout(timer);
  }, []);
  const { requestId, toolCall, options, command, reasons, grant } = request;
  const answer = ({ optionId }: PermissionOption, because?: string): void =>
    post({ type: "permission", requestId, optionId, ...(because && { reason: because }) });
  const reject = options.find(({ kind }) => kind === "reject_once");
  const diffs = (toolCall.content ?? []).filter((part) => part.type === "diff");
  const label = `permission-${requestId}`;
  return (
    <div class="ask-card" role="alertdialog" aria-labelledby={label}>
      <div class="ask-title" id={label}>
        <Icon name="shield" /> {command === undefined ? (toolCall.title ?? "Allow this?") : "Run this command?"}
      </div>
      {command !== undefined && (
        <pre class="ask-command" dir="ltr">
          {command}
        </pre>
      )}
      {diffs.map(({ path, oldText, newText }) => (
        <DiffView key={path} id={`diff:${requestId}:${path}`} path={path} oldText={oldText ?? null} newText={newText} />
      ))}
      {reasons.length > 0 && (
        <ul class="ask-reasons">
          {reasons.map((text) => (
            <li key={text} dir="auto">
              {text}
            </li>
          ))}
        </ul>
      )}
      {grant !== undefined && <div class="ask-grant">For the session or always: {grant}</div>}
      <div class="ask-buttons">
        {options.map((option, index) => (
          <button
            key={option.optionId}
            type="button"
            class={`button ${index === 0 ? "button-primary" : "button-secondary"}`}
            disabled={!armed}
            onClick={() => answer(option)}
          >
            {option.name}
          </button>
        ))}
      </div>
      {reject !== undefined && reason === undefined && (
        <button type="button" class="text-button" onClick={() => setReason("")}>
          No, because…
        </button>
      )}
      {reject !== undefined && reason !== undefined && (
        <form
          class="ask-reason"
          onSubmit={(event) => {
            event.preventDefault();
            answer(reject, reason);
          }}
        >
          <input
            type="text"
            aria-label="Why not"
            placeholder="What to do instead"
            value={reason}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
          <button type="submit" class="button button-secondary" disabled={reason.trim() === ""}>
            Send
          </button>
        </form>
      )}
    </div>
  );
}

/** Offers the choices, a free answer, and no answer. */
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
