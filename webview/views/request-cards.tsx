/** Requests of the agent: permission for a call, and questions. */
import type { PermissionOption } from "@zed-industries/agent-client-protocol";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { visibleText } from "../../agent-core/platform/visible-text.ts";
import { MarkdownView } from "../markdown/markdown-view.tsx";
import type { PermissionRequest, QuestionRequest } from "../state/state.ts";
import { appendText, emptyText } from "../state/streamed-text.ts";
import { t } from "../texts.ts";
import { DiffView } from "./diff-view.tsx";
import { focusOnce } from "./focus-kept.ts";
import { Button, Icon, Words } from "./icon.tsx";
import { onSubmit } from "./keys.ts";
import { usePanel } from "./panel-context.ts";

/** Pause without a key before the buttons work: what the user does for something else must not answer. Milliseconds. */
const ARM_MS = 400;

/** False until the user has seen the card without typing. Then it stays true. */
function useArmed(): boolean {
  const [isArmed, setArmed] = useState(false);
  useEffect(() => {
    if (isArmed) return;
    let timer = setTimeout(() => setArmed(true), ARM_MS);
    const restart = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => setArmed(true), ARM_MS);
    };
    window.addEventListener("keydown", restart, true);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("keydown", restart, true);
    };
  }, [isArmed]);
  return isArmed;
}

/** Shows the whole call, the reasons for the request, and the scope of each lasting answer. */
export function PermissionCard({ request }: { readonly request: PermissionRequest }) {
  const panel = usePanel();
  const isArmed = useArmed();
  const { requestId, toolCall, command, reasons, task } = request;
  const answer = ({ optionId }: PermissionOption, reason?: string): void => {
    if (!isArmed) return;
    panel.post({ type: "permission", requestId, optionId, ...(reason && { reason }) });
  };
  const diffs = (toolCall.content ?? []).filter((part) => part.type === "diff");
  const label = `permission-${requestId}`;
  return (
    <div class="ask-card" role="alertdialog" aria-labelledby={label} tabIndex={-1}>
      <div class="ask-title" id={label}>
        <Icon name="shield" />{" "}
        {command === undefined ? <Words text={toolCall.title ?? t("Allow this?")} /> : t("Run this command?")}
      </div>
      {task !== undefined && (
        <div class="ask-task" dir="auto">
          <Icon name="type-hierarchy-sub" /> <Words text={task} />
        </div>
      )}
      {reasons.length > 0 && (
        <ul class="ask-reasons">
          {reasons.map((text) => (
            <li key={text} dir="auto">
              <Words text={text} />
            </li>
          ))}
        </ul>
      )}
      {command !== undefined && (
        <pre class="ask-command" dir="ltr">
          <Words text={command} />
        </pre>
      )}
      {diffs.map(({ path, oldText, newText }) => (
        <DiffView key={path} id={`diff:${requestId}:${path}`} path={path} oldText={oldText ?? null} newText={newText} />
      ))}
      <PermissionButtons request={request} isArmed={isArmed} onAnswer={answer} />
    </div>
  );
}

type PermissionButtonsProps = {
  readonly request: PermissionRequest;
  readonly isArmed: boolean;
  readonly onAnswer: (option: PermissionOption, reason?: string) => void;
};

/** The lasting answers have their own row, under the words for what they grant. */
function PermissionButtons({ request: { options, grant }, isArmed, onAnswer }: PermissionButtonsProps) {
  const reject = options.find(({ kind }) => kind === "reject_once");
  const lasting = options.filter(({ kind }) => kind === "allow_always");
  const button = (option: PermissionOption) => (
    <Button
      key={option.optionId}
      kind={option === options[0] ? "primary" : "secondary"}
      disabled={!isArmed}
      onClick={() => onAnswer(option)}
    >
      {option.name}
    </Button>
  );
  return (
    <div class="ask-foot">
      <div class="ask-buttons">
        {options.filter((option) => !lasting.includes(option)).map(button)}
        {reject !== undefined && <RejectWithReason isArmed={isArmed} onReject={(reason) => onAnswer(reject, reason)} />}
      </div>
      {lasting.length > 0 && (
        <div class="ask-lasting">
          {grant !== undefined && <div class="ask-grant">{withCommand(t("Stop asking for: {0}", grant))}</div>}
          <div class="ask-buttons">{lasting.map(button)}</div>
        </div>
      )}
    </div>
  );
}

/** The words of a grant with their command as code. A command that has such quotes itself stays as it is. */
function withCommand(words: string): ComponentChildren {
  const [before, command, after, ...more] = words.split("`");
  if (command === undefined || after === undefined || more.length > 0) return <Words text={words} />;
  return [
    before,
    <code key="command">
      <Words text={command} />
    </code>,
    after,
  ];
}

type RejectWithReasonProps = { readonly isArmed: boolean; readonly onReject: (reason: string) => void };

function RejectWithReason({ isArmed, onReject }: RejectWithReasonProps) {
  const [reason, setReason] = useState<string | undefined>(undefined);
  if (reason === undefined) {
    return (
      <Button disabled={!isArmed} onClick={() => setReason("")}>
        {t("No, Because…")}
      </Button>
    );
  }
  return (
    <form
      class="ask-reason"
      onSubmit={onSubmit(() => reason.trim() !== "" && onReject(reason))}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        event.currentTarget.closest<HTMLElement>(".ask-card")?.focus();
        setReason(undefined);
      }}
    >
      <input
        type="text"
        aria-label={t("Why not")}
        placeholder={t("What to do instead")}
        ref={focusOnce}
        value={reason}
        onInput={(event) => setReason(event.currentTarget.value)}
      />
      <Button type="submit" kind="secondary" disabled={reason.trim() === ""}>
        {t("Send")}
      </Button>
    </form>
  );
}

/** Choices with a number key. */
const NUMBERED = 9;

/** Offers the choices, a free answer, and no answer. Only an explicit choice or typed text answers. */
export function QuestionCard({ request: { requestId, message, choices } }: { readonly request: QuestionRequest }) {
  const panel = usePanel();
  const isArmed = useArmed();
  const [typed, setTyped] = useState("");
  const answer = (text: string | null): void => {
    if (!isArmed) return;
    panel.post({ type: "answer", requestId, text });
  };
  const label = `question-${requestId}`;
  const text = useMemo(() => appendText(emptyText, visibleText(message)), [message]);
  // Digits in the field are part of an answer in words.
  const onKeyDown = (event: KeyboardEvent): void => {
    const choice = /^[1-9]$/.test(event.key) ? choices[Number(event.key) - 1] : undefined;
    if (choice === undefined || event.target instanceof HTMLInputElement) return;
    event.preventDefault();
    answer(choice);
  };
  return (
    <div class="ask-card" role="alertdialog" aria-labelledby={label} tabIndex={-1} onKeyDown={onKeyDown}>
      <div class="ask-question" id={label}>
        <Icon name="question" /> <MarkdownView text={text} growing={false} />
      </div>
      <div class="ask-buttons ask-choices">
        {choices.map((choice, index) => (
          <Button
            key={choice}
            kind="secondary"
            data-digit={index < NUMBERED ? index + 1 : undefined}
            disabled={!isArmed}
            onClick={() => answer(choice)}
          >
            <span dir="auto">{visibleText(choice)}</span>
          </Button>
        ))}
      </div>
      <form class="ask-reason" onSubmit={onSubmit(() => typed.trim() !== "" && answer(typed.trim()))}>
        <input
          type="text"
          aria-label={t("Your answer")}
          placeholder={choices.length > 0 ? t("Another answer") : t("Your answer")}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <Button type="submit" kind="primary" disabled={!isArmed || typed.trim() === ""}>
          {t("Answer")}
        </Button>
        <Button kind="secondary" disabled={!isArmed} onClick={() => answer(null)}>
          {t("Skip")}
        </Button>
      </form>
    </div>
  );
}
