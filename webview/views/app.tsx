/** The panel: the conversation, what waits for an answer, and the composer. */
import { AgentLine } from "./agent-line.tsx";
import { Composer } from "./composer.tsx";
import { EmptyState } from "./empty-state.tsx";
import { usePanel } from "./panel-context.ts";
import { PermissionCard } from "./permission-card.tsx";
import { PlanView } from "./plan-view.tsx";
import { QuestionCard } from "./question-card.tsx";
import { QueueList } from "./queue-list.tsx";
import { ReviewBar } from "./review-bar.tsx";
import { Transcript } from "./transcript.tsx";

export function App() {
  const { store } = usePanel();
  const { entries, open, permissions, questions, announcement } = store.shown.value;
  const isEmpty = entries.length === 0 && open === undefined;
  const example = (text: string): void => store.apply([{ kind: "compose", text }], false);
  return (
    <main class="panel">
      <AgentLine />
      {isEmpty ? <EmptyState onExample={example} /> : <Transcript />}
      <div class="dock">
        {permissions.map((request) => (
          <PermissionCard key={request.requestId} request={request} />
        ))}
        {questions.map((request) => (
          <QuestionCard key={request.requestId} request={request} />
        ))}
        <PlanView />
        <ReviewBar />
        <QueueList />
        <Composer />
      </div>
      <div class="visually-hidden" role="status" aria-live="polite" key={announcement.serial}>
        {announcement.text}
      </div>
    </main>
  );
}
