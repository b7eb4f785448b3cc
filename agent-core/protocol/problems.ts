/** Problems that the client's language servers find after an edit. Only where `problems` is declared. */
import * as z from "zod";
import { nothing } from "./method.ts";

export const HermesProblem = z.object({
  /** 1-based. */
  line: z.number().int().min(1),
  /** 1-based, in UTF-16 units. */
  column: z.number().int().min(1),
  severity: z.enum(["error", "warning"]),
  message: z.string(),
  /** Tool that found the problem: `ts`, `eslint`. */
  source: z.string().exactOptional(),
  code: z.string().exactOptional(),
});
export type HermesProblem = z.infer<typeof HermesProblem>;

/** Lines of `before` count in the old text, lines of `after` in the new one. `path` is absolute. */
export const HermesFileProblems = z.object({
  path: z.string(),
  before: z.array(HermesProblem).readonly(),
  after: z.array(HermesProblem).readonly(),
});
export type HermesFileProblems = z.infer<typeof HermesFileProblems>;

/** `watchId` is chosen by the agent. */
export const HermesProblemsWatch = z.object({ sessionId: z.string(), watchId: z.string() });
export type HermesProblemsWatch = z.infer<typeof HermesProblemsWatch>;

/** `paths`: the edited files, absolute. */
export const HermesProblemsRequest = HermesProblemsWatch.extend({ paths: z.array(z.string()).readonly() });
export type HermesProblemsRequest = z.infer<typeof HermesProblemsRequest>;

/** The edited files, and others whose problems have changed since the edit. */
export const HermesProblemsFound = z.object({ files: z.array(HermesFileProblems).readonly() });
export type HermesProblemsFound = z.infer<typeof HermesProblemsFound>;

/** A new problem after an edit. `path` is absolute, `line` 1-based; `text` is the whole problem in one line. */
export type HermesNewProblem = {
  readonly path: string;
  readonly line: number;
  readonly severity: "error" | "warning";
  readonly text: string;
};

/** `_meta.hermes` of the text in a tool call that names the new problems of its edit. */
export type HermesProblemsMeta = { readonly problems: readonly HermesNewProblem[] };

/** Requests of the agent around an edit. */
export const problemMethods = {
  /** Before the edit. */
  watch: { name: "_hermes/editor/problems/watch", params: HermesProblemsWatch, result: nothing },
  /** After the edit: ends the watch and waits until the problems have settled. */
  settled: { name: "_hermes/editor/problems/settled", params: HermesProblemsRequest, result: HermesProblemsFound },
};
