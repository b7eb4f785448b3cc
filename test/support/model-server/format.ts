/** What a wire format is to the model server: where it listens and how parts become bytes of the stream. */
import type { Part, StreamedAnswer } from "./answer.ts";

/** A part that has its own form in each wire format; the server itself does the others. */
export type SpokenPart = Extract<Part, { type: "text" | "reasoning" | "refusal" | "call" }>;

/** Speaks one answer. Every string is one write. */
export type Speaker = {
  begin(answer: StreamedAnswer): readonly string[];
  speak(part: SpokenPart): readonly string[];
  raw(data: string): string;
  /** The last events, without them the answer is cut off. */
  end(answer: StreamedAnswer): readonly string[];
};

export type Format = {
  /** End of the URLs that it answers. */
  readonly path: string;
  /** `number` counts the requests from 1; ids are made from it. */
  speaker(number: number): Speaker;
};
