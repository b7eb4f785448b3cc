/** One line about the agent itself, when it is not simply there. */
import { Icon } from "./icon.tsx";
import { usePanel } from "./panel-context.ts";

export function AgentLine() {
  const { store } = usePanel();
  const { facts, sessionId } = store.shown.value;
  const { agent } = facts;
  switch (agent.state) {
    case "ready":
      return null;
    case "starting":
      return sessionId === undefined ? (
        <div class="agent-line">
          <Icon name="loading" spin /> Starting…
        </div>
      ) : null;
    case "restarting":
      return (
        <div class="agent-line">
          <Icon name="loading" spin /> {agent.message ?? "Restarting…"}
        </div>
      );
    case "failed":
      return (
        <div class="agent-line agent-failed" role="alert">
          <Icon name="error" /> {agent.message ?? "The agent has stopped."}
        </div>
      );
  }
}
