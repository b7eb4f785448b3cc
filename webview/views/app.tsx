/** The panel: status lines, the page or transcript, and the dock with requests and composer. */
import type { PlanEntry } from "@zed-industries/agent-client-protocol";
import { visibleText } from "../../agent-core/platform/visible-text.ts";
import { onOneLine, shortLabel } from "../state/attachments.ts";
import { earlierOf } from "../state/earlier.ts";
import { wholeText } from "../state/streamed-text.ts";
import { isPlanning } from "../state/turns.ts";
import { t } from "../texts.ts";
import { Composer } from "./composer/composer.tsx";
import { TaskPage } from "./delegation/task-page.tsx";
import { DropZone } from "./drop-zone.tsx";
import { ExtensionsLine, ExtensionsPage } from "./extensions-page.tsx";
import { useFocusNotLost } from "./focus-kept.ts";
import { Fold } from "./fold.tsx";
import { History } from "./history.tsx";
import { Button, Icon, IconButtons } from "./icon.tsx";
import { usePanel } from "./panel-context.ts";
import { ProcessStrip } from "./process-strip.tsx";
import { QueueList } from "./queue-list.tsx";
import { PermissionCard, QuestionCard } from "./request-cards.tsx";
import { DockBar, DockText, ReviewBar } from "./review-bar.tsx";
import { SetupPageView } from "./setup-page.tsx";
import { NoFolderPage, StartPageView } from "./start-page.tsx";
import { statusLabels } from "./tool-card.tsx";
import { isNotice } from "./transcript/entry-row.tsx";
import { Transcript } from "./transcript/transcript.tsx";
import { CONTINUE } from "./transcript/turn-end.tsx";

export function App() {
  const { store } = usePanel();
  useFocusNotLost();
  const { permissions, questions, announcement, facts } = store.shown.value;
  if (facts.folder !== "open") {
    return (
      <main class="panel">
        <NoFolderPage />
      </main>
    );
  }
  return (
    <main class="panel">
      <AgentLine />
      <TrustLine />
      <BackgroundLine />
      <ExtensionsLine />
      <Content />
      <div class="dock">
        <div class="dock-lines">
          {permissions.map((request) => (
            <PermissionCard key={request.requestId} request={request} />
          ))}
          {questions.map((request) => (
            <QuestionCard key={request.requestId} request={request} />
          ))}
          <LearntLine />
          <PausedLine />
          <PlanBar />
          <PlanView />
          <ReviewBar />
          <ProcessStrip />
          <QueueList />
        </div>
        <Composer />
      </div>
      <DropZone />
      <div class="visually-hidden" role="status" aria-live="polite" key={announcement.serial}>
        {announcement.text}
      </div>
    </main>
  );
}

/** The page of the route; without one the transcript, or examples before the first message. Notices may come before it. */
function Content() {
  const panel = usePanel();
  const { entries, open, earlier, facts, route, history, sessionId } = panel.store.shown.value;
  if (route.sessions) return <History page={history} />;
  if (route.extensions) return <ExtensionsPage />;
  if (route.setup && facts.setup !== null) return <SetupPageView page={facts.setup} />;
  const isEmpty = entries.every(isNotice) && open === undefined && earlierOf(earlier) === undefined;
  if (route.task !== undefined && panel.task !== undefined)
    return <TaskPage key={panel.task.child} open={panel.task} />;
  if (isEmpty) return <StartPageView />;
  return (
    <>
      <SessionHead />
      <Transcript key={sessionId} />
    </>
  );
}

/** Name of the session, and of its worktree, whose changes a click shows, merges or discards. */
function SessionHead() {
  const { store, post } = usePanel();
  const { title, worktree } = store.shown.value;
  return (
    <div class="session-head">
      <h1 class={title === undefined ? "visually-hidden" : "tool-title"} title={title} dir="auto">
        {onOneLine(title ?? t("Conversation"))}
      </h1>
      {worktree !== undefined && (
        <Button title={t("Manage the Worktree {0}", worktree)} onClick={() => post({ type: "manage-worktree" })}>
          <Icon name="git-branch" /> <span class="tool-title">{worktree}</span>
        </Button>
      )}
    </div>
  );
}

/** Shows an agent that starts, restarts or has failed. */
function AgentLine() {
  const { facts, sessionId } = usePanel().store.shown.value;
  const { state, message } = facts.agent;
  if (state === "failed") {
    return (
      <div class="agent-line agent-failed" role="alert">
        <Icon name="error" /> {message ?? t("The agent has stopped.")}
      </div>
    );
  }
  if (state === "ready" || (state === "starting" && sessionId !== undefined)) return null;
  return (
    <div class="agent-line">
      <Icon name="loading" spin /> {state === "starting" ? t("Starting…") : (message ?? t("Restarting…"))}
    </div>
  );
}

function TrustLine() {
  const { store, post } = usePanel();
  if (store.shown.value.facts.isTrusted) return null;
  return (
    <div class="agent-line trust-line" role="status">
      <Icon name="shield" />
      <span>
        {t("This workspace is not trusted: the agent can chat and read, but cannot write files or run commands.")}{" "}
        <Button onClick={() => post({ type: "manage-trust" })}>{t("Manage Trust")}</Button>
      </span>
    </div>
  );
}

const BACKGROUND = [
  {
    state: "asks",
    icon: "bell-dot",
    one: (title: string) => t("“{0}” asks for your answer", title),
    more: (count: number) => t("{0} other sessions ask for your answer", count),
  },
  {
    state: "working",
    icon: "loading",
    one: (title: string) => t("“{0}” is working", title),
    more: (count: number) => t("{0} other sessions are working", count),
  },
  {
    state: "done",
    icon: "pass",
    one: (title: string) => t("“{0}” has finished", title),
    more: (count: number) => t("{0} other sessions have finished", count),
  },
] as const;

/** Longest title of a session in a line. Characters. */
const TITLE_CHARS = 40;

/** The most urgent state of the other sessions; a click opens the one session, or the list. */
function BackgroundLine() {
  const panel = usePanel();
  const { facts, route, sessionId } = panel.store.shown.value;
  const others = facts.background.filter((session) => !session.isInSight && session.sessionId !== sessionId);
  const shown = BACKGROUND.find(({ state }) => others.some((session) => session.state === state));
  if (shown === undefined || route.sessions) return null;
  const [first, ...more] = others.filter(({ state }) => state === shown.state);
  const only = more.length === 0 ? first : undefined;
  const text =
    only === undefined
      ? shown.more(more.length + 1)
      : shown.one(shortLabel(only.title ?? t("Another session"), TITLE_CHARS));
  return (
    <button
      type="button"
      class={`agent-line background-line background-${shown.state}`}
      onClick={() => (only === undefined ? panel.showSessions() : panel.openSession(only.sessionId))}
    >
      <Icon name={shown.icon} spin={shown.state === "working"} /> <span>{text}</span>
    </button>
  );
}

/** The newest of what was learnt, until the next prompt. */
function LearntLine() {
  const { store, post } = usePanel();
  const { learnt } = store.shown.value.facts;
  if (learnt === null) return null;
  const message = visibleText(learnt.message);
  return (
    <section class="learnt-line" aria-label={t("Learnt")}>
      <Icon name="mortar-board" />
      <span class="tool-title" title={message} dir="auto">
        {message}
      </span>
      <Button onClick={() => post({ type: "learnt-open" })}>{t("Open")}</Button>
      {learnt.canUndo && (
        <Button onClick={() => post({ type: "learnt-undo" })}>{learnt.isUse === true ? t("Wrong") : t("Undo")}</Button>
      )}
      <IconButtons
        of={[["close", t("Dismiss the Note About What Was Learnt"), t("Dismiss"), { type: "learnt-dismiss" }]]}
      />
    </section>
  );
}

/** Offers to continue a turn that ended with its window, or a goal. */
function PausedLine() {
  const { store, post } = usePanel();
  const { paused, running } = store.shown.value;
  if (paused === undefined || running) return null;
  const isGoal = paused === "goal";
  const resume = (): void => post({ type: "prompt", text: isGoal ? "/goal resume" : CONTINUE });
  const label = isGoal ? t("Paused goal") : t("Interrupted turn");
  return (
    <DockBar label={label} steps={[{ label: t("Continue"), isPrimary: true, run: resume }]}>
      <DockText icon="debug-pause">{isGoal ? t("The goal is paused") : t("The turn was interrupted")}</DockText>
    </DockBar>
  );
}

/** Ends plan mode: the plan is carried out, or planning continues. */
function PlanBar() {
  const { store, post } = usePanel();
  const { hasPlan, running } = store.shown.value;
  if (!hasPlan || running || !isPlanning(store.shown.value)) return null;
  const keepPlanning = (): void => store.apply([{ kind: "keep-planning" }]);
  const answer = store.shown.value.entries.findLast((entry) => entry.type === "answer");
  const plan = answer?.type === "answer" ? wholeText(answer.text) : "";
  const editPlan = (): void => post({ type: "open-plan", text: plan });
  const carryOut = (text: string) => (): void => post({ type: "prompt", text, plan });
  return (
    <DockBar
      label={t("Plan to carry out")}
      steps={[
        {
          label: t("Carry Out"),
          title: t("Switch to the mode Code and carry out the plan"),
          isPrimary: true,
          run: carryOut("/carry-out code"),
        },
        {
          label: t("Approve Each Edit"),
          title: t("Switch to the mode Ask and carry out the plan: you approve each edit before it is written"),
          run: carryOut("/carry-out ask"),
        },
        { label: t("Edit the Plan"), title: t("Open the plan as a document, and carry that out."), run: editPlan },
        { label: t("Keep Planning"), run: keepPlanning },
      ]}
    >
      <DockText icon="checklist">{t("The plan is ready")}</DockText>
    </DockBar>
  );
}

const planIcons = {
  pending: "circle-large-outline",
  in_progress: "circle-large-filled",
  completed: "pass-filled",
} as const;

/** The agent's plan as a checklist. */
function PlanView() {
  const { store } = usePanel();
  const { plan } = store.shown.value;
  if (plan.length === 0) return null;
  const done = plan.filter(({ status }) => status === "completed").length;
  const current = plan.find(({ status }) => status === "in_progress");
  const summary = (
    <>
      <Icon name={done === plan.length ? "pass-filled" : "checklist"} />
      <span class="tool-title">
        {current ? t("{0} of {1} · {2}", done, plan.length, current.content) : t("{0} of {1} done", done, plan.length)}
      </span>
    </>
  );
  return (
    <section class="plan" aria-label={t("Plan")}>
      <Fold id="plan" openByDefault={false} summary={summary}>
        <ol class="plan-list">
          {plan.map((entry, index) => (
            <PlanLine key={index} entry={entry} />
          ))}
        </ol>
      </Fold>
    </section>
  );
}

function PlanLine({ entry: { content, status } }: { readonly entry: PlanEntry }) {
  return (
    <li class={`plan-${status}`} data-plan-status={status}>
      <Icon name={planIcons[status]} /> <span dir="auto">{content}</span>
      <span class="visually-hidden">{statusLabels[status]}</span>
    </li>
  );
}
