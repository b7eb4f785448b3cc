/** What the client's language servers find wrong after an edit. */
import type { FileProblems, Problem, ToldProblem } from "../../host/problems.ts";

/** Requests of the agent around an edit, for what the client's language servers find. */
export const CLIENT_PROBLEMS = {
  /** HermesProblemsWatch → {}; before the edit. */
  watch: "_hermes/editor/problems/watch",
  /** HermesProblems → HermesProblemsFound; after it. Ends the watch, and waits until problems have settled. */
  settled: "_hermes/editor/problems/settled",
} as const;

/** `watchId` is chosen by the agent. */
export type HermesProblemsWatch = { readonly sessionId: string; readonly watchId: string };
/** `paths`: the files that were edited, absolute. */
export type HermesProblems = HermesProblemsWatch & { readonly paths: readonly string[] };
/** Of those files, and of others whose problems have changed since the edit. */
export type HermesProblemsFound = { readonly files: readonly HermesFileProblems[] };
export type HermesFileProblems = FileProblems;
export type HermesProblem = Problem;

/** `_meta.hermes` of a tool call's text that names what its edit has broken. */
export type HermesProblemsMeta = { readonly problems: readonly ToldProblem[] };
