/** Wire format of the model server: its path, and the bytes of its stream. */
import type { Part, StreamedAnswer } from "./answer.ts";

/** Part with its own form in each wire format. The server sends all other parts itself. */
export type SpokenPart = Extract<Part, { type: "text" | "reasoning" | "refusal" | "call" }>;

/** Speaks one answer. Every string is one write. */
export type Speaker = {
  begin(answer: StreamedAnswer): readonly string[];
  speak(part: SpokenPart): readonly string[];
  raw(data: string): string;
  /** Last events. An answer without them is cut off. */
  end(answer: StreamedAnswer): readonly string[];
};

export type Format = {
  /** End of its URLs. */
  readonly path: string;
  /** `number` counts the requests from 1; ids are made from it. */
  speaker(number: number): Speaker;
};
