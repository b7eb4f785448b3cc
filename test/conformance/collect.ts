/** Reads of a model's stream in tests. */
import type { ModelEvent } from "../../agent-core/providers/wire/wire.ts";

export async function collect(stream: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** All text of one kind of delta. */
export function joined(events: readonly ModelEvent[], type: "text-delta" | "reasoning-delta"): string {
  return events.map((event) => (event.type === type ? event.text : "")).join("");
}

export function callsOf(events: readonly ModelEvent[]): readonly (readonly [name: string, json: string])[] {
  return events.flatMap((event) =>
    event.type === "tool-call-end" ? [[event.call.function.name, event.call.function.arguments] as const] : [],
  );
}

/** One line per event, to compare whole streams. */
export function transcript(events: readonly ModelEvent[]): readonly string[] {
  return events.map(lineOf);
}

function lineOf(event: ModelEvent): string {
  switch (event.type) {
    case "text-delta":
      return `text ${JSON.stringify(event.text)}`;
    case "reasoning-delta":
      return `reasoning ${JSON.stringify(event.text)}`;
    case "tool-call-start":
      return `start ${event.index} ${event.id} ${event.name}`;
    case "tool-call-delta":
      return `delta ${event.index} ${event.text}`;
    case "tool-call-end":
      return `end ${event.index} ${event.call.id} ${event.call.function.name} ${event.call.function.arguments}`;
    case "alive":
      return "alive";
    case "recast":
      return `recast ${event.as}`;
    case "notice":
      return `notice ${event.message}`;
    case "finish": {
      const { inputTokens, cachedInputTokens, outputTokens, reasoningTokens } = event.usage ?? {};
      const tokens = event.usage ? `${inputTokens}(${cachedInputTokens}) ${outputTokens}(${reasoningTokens})` : "?";
      return `finish ${event.reason} ${tokens}`;
    }
    case "fault":
      return `fault ${event.fault.kind}`;
  }
}
