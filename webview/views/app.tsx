/** The panel: the conversation, what waits for an answer, and the composer. */
import type { HistoryPage } from "../../agent-core/protocol/panel-events.ts";
import { earlierOf } from "../state/earlier.ts";
import { AgentLine } from "./agent-line.tsx";
import { Composer } from "./composer.tsx";
import { EmptyState } from "./empty-state.tsx";
import { FirstRun } from "./first-run.tsx";
import { History } from "./history/history.tsx";
import { usePanel } from "./panel-context.ts";
import { PermissionCard } from "./permission-card.tsx";
import { PlanView } from "./plan-view.tsx";
import { ProcessStrip } from "./process-strip.tsx";
import { QuestionCard } from "./question-card.tsx";
import { QueueList } from "./queue-list.tsx";
import { ReviewBar } from "./review-bar.tsx";
import { Transcript } from "./transcript/transcript.tsx";
import { TrustLine } from "./trust-line.tsx";

export function App() {
  const { store } = usePanel();
  const { permissions, questions, announcement } = store.shown.value;
  return (
    <main class="panel">
      <AgentLine />
      <TrustLine />
      <Content />
      <div class="dock">
        {permissions.map((request) => (
          <PermissionCard key={request.requestId} request={request} />
        ))}
        {questions.map((request) => (
          <QuestionCard key={request.requestId} request={request} />
        ))}
        <PlanView />
        <ReviewBar />
        <ProcessStrip />
        <QueueList />
        <Composer />
      </div>
      <div class="visually-hidden" role="status" aria-live="polite" key={announcement.serial}>
        {announcement.text}
      </div>
    </main>
  );
}

/** What fills the panel: the stored sessions, the way to a model, the conversation, or what there is before it. */
function Content() {
  const panel = usePanel();
  const { entries, open, earlier, facts, route, history, sessionId } = panel.store.shown.value;
  if (route.sessions) return <History page={history ?? LOADING} />;
  if (route.setup && facts.setup !== null) return <FirstRun page={facts.setup} />;
  const isEmpty = entries.length === 0 && open === undefined && earlierOf(earlier) === undefined;
  if (!isEmpty) return <Transcript key={sessionId} />;
  return <EmptyState onExample={(text) => panel.compose(text)} />;
}

const LOADING: HistoryPage = { query: "", everywhere: false, sessions: [], hasMore: false, isLoading: true };
