/** A message of the user, with its attachments and its actions: edit, send again, fork, restore. */
import { type Signal, signal, useComputed } from "@preact/signals";
import { createContext } from "preact";
import { useContext, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Draft, isSendable } from "../../state/attachments.ts";
import type { TextEntry } from "../../state/state.ts";
import { wholeText } from "../../state/streamed-text.ts";
import { t } from "../../texts.ts";
import { ChipRow } from "../composer/chips.tsx";
import { DraftEditor } from "../composer/draft-field.tsx";
import { useOpen } from "../fold.tsx";
import { Button, Icon, IconButtons } from "../icon.tsx";
import { usePanel } from "../panel-context.ts";
import { RestoreCard, RestoreFiles, useRestorePreview } from "./restore-card.tsx";

/** Messages that the user edits, by the key of the entry. They outlive the rows of the virtual list. */
export const MessageEdits = createContext<Map<string, Signal<Draft>>>(new Map());

export function UserMessage({ entry }: { readonly entry: TextEntry }) {
  const panel = usePanel();
  const { post, store, isReadOnly } = panel;
  const edits = useContext(MessageEdits);
  const [edited, setEdited] = useState(edits.get(entry.key));
  // An editor that comes back into view leaves the focus where it is.
  const [isNew, setNew] = useState(false);
  const row = useRef<HTMLDivElement>(null);
  const isCancelled = useRef(false as boolean);
  useLayoutEffect(() => {
    if (isCancelled.current) row.current?.querySelector<HTMLElement>(".message-actions button")?.focus();
    isCancelled.current = false;
  }, [edited]);
  const message: Draft = { text: wholeText(entry.text), attachments: entry.attachments };
  const { position } = entry;
  const edit = (): void => {
    const draft = signal(message);
    edits.set(entry.key, draft);
    setEdited(draft);
    setNew(true);
  };
  const close = (): void => {
    edits.delete(entry.key);
    setEdited(undefined);
    // Else the preview for the editor would become the card of a restore, and take the focus.
    if (position !== undefined) store.apply([{ kind: "restore-preview", position, preview: null }]);
    post({ type: "restore-close" });
  };
  const resend = ({ text, attachments }: Draft, withFiles = false): void => {
    const files = withFiles && ({ files: true } as const);
    if (position !== undefined) post({ type: "resend", position, text, attachments, ...files });
  };
  return (
    <div class="entry user" ref={row}>
      <h2 class="visually-hidden">{t("You")}</h2>
      {edited === undefined ? (
        <Sent message={message} fold={`message:${position ?? entry.key}`} />
      ) : (
        <MessageEditor
          position={position}
          draft={edited}
          takesFocus={isNew}
          onSend={(draft, withFiles) => {
            close();
            resend(draft, withFiles);
            panel.compose();
          }}
          onCancel={() => {
            close();
            isCancelled.current = true;
          }}
        />
      )}
      {position !== undefined && edited === undefined && !isReadOnly && (
        <Actions position={position} message={message} onEdit={edit} onResend={() => resend(message)} />
      )}
      {position !== undefined && edited === undefined && <RestoreCard position={position} />}
    </div>
  );
}

/** Limits of a message that is shown whole; a longer one is folded. */
const FOLDED_LINES = 12;
const FOLDED_CHARS = 1_200;

type SentProps = {
  readonly message: Draft;
  /** Name of the panel's memory for the fold, in this session. */
  readonly fold: string;
};

function Sent({ message: { text, attachments }, fold }: SentProps) {
  const { store } = usePanel();
  const [isOpen, setOpen] = useOpen(`${store.shown.peek().sessionId ?? ""}:${fold}`, false);
  const words = text.replace(/^\/.*/, (command) => COMMANDS[command] ?? command);
  const head = headOf(words);
  return (
    <>
      {text !== "" && (
        <div class="bubble" dir="auto">
          {isOpen ? words : head}
          {head !== words && (
            <Button
              class="bubble-fold"
              aria-expanded={isOpen}
              data-hides={!isOpen || undefined}
              onClick={() => setOpen(!isOpen)}
            >
              <Icon name={isOpen ? "chevron-up" : "chevron-down"} />
              {isOpen ? t("Show Less") : showAllText(text)}
            </Button>
          )}
        </div>
      )}
      <ChipRow attachments={attachments} />
    </>
  );
}

/** Commands that buttons send, in the words of the buttons. */
const COMMANDS: Readonly<Record<string, string>> = {
  "/carry-out code": t("Carry Out the Plan"),
  "/carry-out ask": t("Carry Out the Plan, and Approve Each Edit"),
  "/compress": t("Compress"),
  "/undo": t("Undo"),
};

/** A message of an editor's action: its title with two blanks, and instructions. */
const TITLED = /^(.{1,300}?) {2}\n\n/s;

/** Beginning of a long text, the title of a titled one; all of a short one. */
function headOf(text: string): string {
  const [, title] = TITLED.exec(text) ?? [];
  if (title !== undefined) return title;
  const lines = text.split("\n", FOLDED_LINES + 1);
  const head = lines.length > FOLDED_LINES ? lines.slice(0, FOLDED_LINES).join("\n") : text;
  return head.length > FOLDED_CHARS ? `${head.slice(0, FOLDED_CHARS)}…` : head;
}

function showAllText(text: string): string {
  const lines = text.split("\n").length;
  return lines > FOLDED_LINES ? t("Show All {0} Lines", lines) : t("Show All");
}

type MessageEditorProps = {
  /** Undefined until the agent has sent it. */
  readonly position: number | undefined;
  readonly draft: Signal<Draft>;
  readonly takesFocus: boolean;
  /** `withFiles`: restores the files to their state before the message. */
  readonly onSend: (draft: Draft, withFiles?: true) => void;
  readonly onCancel: () => void;
};

/** Editor of a sent message. It offers to restore the files that changed since then, with the same click. */
function MessageEditor({ position, draft, takesFocus, onSend, onCancel }: MessageEditorProps) {
  const { post } = usePanel();
  const preview = useRestorePreview(position);
  const canSend = isSendable(draft.value);
  const send = (withFiles?: true): void => {
    if (isSendable(draft.peek())) onSend(draft.peek(), withFiles);
  };
  useEffect(() => {
    if (position !== undefined && preview === undefined) post({ type: "restore-preview", position, forResend: true });
  }, [position]);
  const box = useRef<HTMLDivElement>(null);
  // Its buttons are below the list of files, which comes later.
  useEffect(() => {
    if (takesFocus) box.current?.scrollIntoView({ block: "nearest" });
  }, [preview]);
  const changing = preview?.files.filter(({ leftAlone }) => leftAlone === undefined).length ?? 0;
  const keeps = changing > 0 ? t("Send, Keep Files") : t("Send");
  return (
    <div class="message-editor" ref={box}>
      <DraftEditor
        label={t("Message to send again")}
        draft={draft}
        takesFocus={takesFocus}
        onSubmit={() => send()}
        onCancel={onCancel}
      />
      <p class="message-editor-note">{t("Sending it removes everything after this message.")}</p>
      {changing > 0 && preview !== undefined && position !== undefined && (
        <RestoreFiles position={position} preview={preview} />
      )}
      <div class="ask-buttons">
        <Button kind="primary" disabled={!canSend} onClick={() => send()}>
          {keeps}
        </Button>
        {changing > 0 && (
          <Button kind="secondary" disabled={!canSend} onClick={() => send(true)}>
            {changing === 1 ? t("Restore 1 File and Send") : t("Restore {0} Files and Send", changing)}
          </Button>
        )}
        <Button kind="secondary" onClick={onCancel}>
          {t("Cancel")}
        </Button>
      </div>
    </div>
  );
}

type ActionsProps = {
  readonly position: number;
  readonly message: Draft;
  readonly onEdit: () => void;
  readonly onResend: () => void;
};

const FORK = t("Fork: a new session with everything before this message");
const RESTORE = t("Restore to Here: files, conversation or both, after a preview");

function Actions({ position, message, onEdit, onResend }: ActionsProps) {
  const { store } = usePanel();
  const running = useComputed(() => store.shown.value.running);
  // A running turn builds on the message.
  if (running.value) return null;
  return (
    <div class="message-actions">
      <IconButtons
        of={[
          ["edit", t("Edit Message and Send It Again"), t("Edit and Send Again"), onEdit],
          ["refresh", t("Send Message Again"), t("Send Again: removes everything after this message"), onResend],
          ["repo-forked", t("Fork the Session Before This Message"), FORK, { type: "fork-here", position, ...message }],
          ["history", t("Restore to Here"), RESTORE, { type: "restore-preview", position }],
        ]}
      />
    </div>
  );
}
