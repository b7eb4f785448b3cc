/** Calls the callbacks that only tell: in one place, so that one that throws can never end a turn. */
import type { AgentCallbacks } from "./callbacks.ts";

type Told = Required<Omit<AgentCallbacks, "clarify" | "approval">>;

export type Notifier = { readonly [Name in keyof Told]: Told[Name] };

/** `onDefect` is told of a callback that threw; its message is for the log. */
export function notifier(callbacks: AgentCallbacks, onDefect: (message: string) => void): Notifier {
  const guard =
    <Event>(name: keyof Told, callback: ((event: Event) => void) | undefined) =>
    (event: Event): void => {
      try {
        callback?.(event);
      } catch (error) {
        onDefect(
          `The callback ${name} threw: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
        );
      }
    };
  return {
    toolProgress: guard("toolProgress", callbacks.toolProgress?.bind(callbacks)),
    thinking: guard("thinking", callbacks.thinking?.bind(callbacks)),
    reasoning: guard("reasoning", callbacks.reasoning?.bind(callbacks)),
    step: guard("step", callbacks.step?.bind(callbacks)),
    streamDelta: guard("streamDelta", callbacks.streamDelta?.bind(callbacks)),
    toolGen: guard("toolGen", callbacks.toolGen?.bind(callbacks)),
    prompted: guard("prompted", callbacks.prompted?.bind(callbacks)),
    steered: guard("steered", callbacks.steered?.bind(callbacks)),
    compressed: guard("compressed", callbacks.compressed?.bind(callbacks)),
    contextPressure: guard("contextPressure", callbacks.contextPressure?.bind(callbacks)),
    title: guard("title", callbacks.title?.bind(callbacks)),
    plan: guard("plan", callbacks.plan?.bind(callbacks)),
    status: guard("status", callbacks.status?.bind(callbacks)),
  };
}
