/**
 * Evaluation of a sub-task's result: accept it, run the task again, or ask the user. Facts of the journal come first; the judge
 * is a model that gets only results whose facts hold. A judge that fails never blocks a result.
 */
import { createHash } from "node:crypto";
import * as z from "zod";
import type { Answer, Question } from "../host/host.ts";
import { messageOf } from "../platform/errors.ts";
import { parseRepairedJson } from "../platform/json.ts";
import type { HermesVerdict } from "../protocol/delegation.ts";
import {
  type EvaluatedResult,
  type FileLookup,
  factsText,
  failedFact,
  judgeRequest,
  type TaskType,
  taskTypeOf,
} from "./evaluation-checks.ts";
import type { Evaluate } from "./task-run.ts";

/** A less correct result is worth another run; at 0.5 the judge sees as much right as wrong. */
const LEAST_CORRECTNESS = 0.5;
/** Below it, a part of the task is missing that the next run can add. */
const LEAST_COMPLETENESS = 0.7;
/** A less confident judge knows no more than the user. */
const LEAST_CONFIDENCE = 0.4;
/** Further runs of one task. A third one repeats the mistakes of the first two. */
export const MAX_RETRIES = 2;
/** Scores that are kept, so that an equal request gets an equal answer. */
const MAX_CACHED = 500;

export type EvaluatedTask = {
  readonly id: string;
  readonly goal: string;
  readonly context?: string | undefined;
  /** A name of TASK_TYPES or an alias. Default: `code` for a task that changed files, else `other`. */
  readonly taskType?: string | undefined;
  /** Files that the task was to write. */
  readonly files?: readonly string[] | undefined;
};

/** Answer of the judge. Scores are between 0 and 1. */
export type Scores = {
  readonly correctness: number;
  readonly completeness: number;
  readonly confidence: number;
  readonly missingAspects: readonly string[];
  readonly reason: string;
};

/** Verdict on one result, as the journal and the card have it. */
export type EvaluationVerdict = Partial<Scores> & {
  readonly taskId: string;
  readonly taskType: TaskType;
  /** Earlier runs of the task. */
  readonly retries: number;
  /** `none`: the judge gave no usable answer, so the result was accepted without one. */
  readonly by: "facts" | "judge" | "none";
  readonly decision: "accept" | "retry" | "amend" | "escalate";
  readonly reason: string;
};

/** `reject`: the result is not used. `note` is one sentence for the parent about a result that is accepted with doubts. */
export type Evaluation = { readonly verdict: EvaluationVerdict } & (
  | { readonly kind: "accept"; readonly note?: string }
  /** `instruction`: message for the next turn of the sub-agent. */
  | { readonly kind: "again"; readonly instruction: string }
  | { readonly kind: "reject"; readonly reason: string }
);

export type EvaluationPorts = {
  /** Asks the judge at temperature 0. Rejects with a reason for people when no answer comes. */
  judge(request: { readonly system: string; readonly user: string }, signal: AbortSignal): Promise<string>;
  readonly lookup: FileLookup;
  ask(question: Question, signal: AbortSignal): Promise<Answer>;
};

/** Default of `evaluation.enabled`: a graph is evaluated, because other tasks build on its results. */
export function isEvaluated(setting: boolean | undefined, isGraph: boolean): boolean {
  return setting ?? isGraph;
}

/** Scores by the hash of the judge's request. */
export type KnownScores = Map<string, Scores>;

/** Judges the results of one delegation. Equal requests of a session are answered from `known`. */
export class Evaluator {
  readonly #ports: EvaluationPorts;
  readonly #known: KnownScores;

  constructor(ports: EvaluationPorts, known: KnownScores) {
    this.#ports = ports;
    this.#known = known;
  }

  /** `retries`: runs of the task before this one. Throws the signal's reason when it is aborted, and nothing else. */
  async evaluate(
    task: EvaluatedTask,
    result: EvaluatedResult,
    retries: number,
    signal: AbortSignal,
  ): Promise<Evaluation> {
    const taskType = taskTypeOf(task.taskType, result.files.length > 0);
    const about = { taskId: task.id, taskType, retries };
    const failure = await failedFact(result, { taskType, files: task.files ?? [] }, this.#ports.lookup);
    signal.throwIfAborted();
    const evaluation =
      failure === undefined
        ? await this.#judged(about, task, result, signal)
        : decide({ ...FAILED, reason: failure }, { ...about, by: "facts" });
    return evaluation.verdict.decision === "escalate" ? this.#escalate(evaluation, signal) : evaluation;
  }

  /** Evaluation of a delegation's tasks. `record` keeps each verdict, with the session of the sub-agent. */
  forTasks(record: (verdict: EvaluationVerdict, child: string) => void): Evaluate {
    return async ({ task, child, result, attempt }, signal) => {
      const evaluation = await this.evaluate(task, result, attempt - 1, signal);
      record(evaluation.verdict, child);
      return { verdict: shownVerdict(evaluation.verdict), next: nextStep(evaluation) };
    };
  }

  async #judged(about: About, task: EvaluatedTask, result: EvaluatedResult, signal: AbortSignal): Promise<Evaluation> {
    const { system, user } = judgeRequest(about.taskType, {
      task: [task.goal, ...(task.context ? [`Context:\n${task.context}`] : [])].join("\n\n"),
      result: [result.summary, ...(result.result === undefined ? [] : [JSON.stringify(result.result)])].join("\n\n"),
      facts: factsText(result),
    });
    const key = createHash("sha256").update(`${system}\0${user}`).digest("hex");
    try {
      const scores = this.#known.get(key) ?? parseScores(await this.#ports.judge({ system, user }, signal));
      signal.throwIfAborted();
      if (this.#known.size >= MAX_CACHED) this.#known.clear();
      this.#known.set(key, scores);
      return decide(scores, { ...about, by: "judge" });
    } catch (error) {
      signal.throwIfAborted();
      const reason = `The result was accepted without evaluation: ${messageOf(error)}`;
      return { kind: "accept", note: reason, verdict: { ...about, by: "none", decision: "accept", reason } };
    }
  }

  async #escalate({ verdict }: Evaluation, signal: AbortSignal): Promise<Evaluation> {
    const question = `The evaluation of task ${verdict.taskId} is not sure about its result: ${verdict.reason} Use the result?`;
    const answer = await this.#ports.ask({ question, choices: [ACCEPT, AGAIN, STOP] }, signal);
    signal.throwIfAborted();
    return answeredBy(answer, verdict);
  }
}

function nextStep(evaluation: Evaluation): Awaited<ReturnType<Evaluate>>["next"] {
  switch (evaluation.kind) {
    case "accept":
      return evaluation.note === undefined ? { kind: "accept" } : { kind: "accept", note: evaluation.note };
    case "again":
      return { kind: "again", message: evaluation.instruction };
    case "reject":
      return { kind: "stop", reason: evaluation.reason };
  }
}

function shownVerdict({ decision, reason, correctness, completeness, confidence }: EvaluationVerdict): HermesVerdict {
  return { correctness, completeness, confidence, decision, reason };
}

type About = Pick<EvaluationVerdict, "taskId" | "taskType" | "retries">;

/** Scores of a result whose facts contradict it. */
const FAILED = { correctness: 0, completeness: 0, confidence: 1, missingAspects: [] } as const;

/** Decision on scores. Without retries left, facts reject a result, and a judge's doubts become a note. */
export function decide(scores: Scores, about: About & { readonly by: "facts" | "judge" }): Evaluation {
  const { correctness, completeness, confidence, missingAspects, reason } = scores;
  const verdict = (decision: EvaluationVerdict["decision"]): EvaluationVerdict => ({ ...about, ...scores, decision });
  const mayRetry = about.retries < MAX_RETRIES;
  if (correctness < LEAST_CORRECTNESS) {
    if (mayRetry) return { kind: "again", instruction: retryText(reason), verdict: verdict("retry") };
    const failed = `The result is still not correct after ${about.retries} further runs: ${reason}`;
    return about.by === "facts"
      ? { kind: "reject", reason: failed, verdict: verdict("retry") }
      : { kind: "accept", note: failed, verdict: verdict("accept") };
  }
  if (completeness < LEAST_COMPLETENESS) {
    const missing = missingAspects.length > 0 ? missingAspects.join("; ") : reason;
    return mayRetry
      ? { kind: "again", instruction: amendText(missing), verdict: verdict("amend") }
      : {
          kind: "accept",
          note: `The result is still not complete after ${about.retries} further runs. Missing: ${missing}`,
          verdict: verdict("accept"),
        };
  }
  if (confidence < LEAST_CONFIDENCE) return { kind: "accept", verdict: verdict("escalate") };
  return { kind: "accept", verdict: verdict("accept") };
}

/** `reason`: what is missing or wrong, else the judge's words. */
export type GoalVerdict = { readonly isReached: boolean; readonly reason: string };

/** Reads the judge's answer about a goal, of which nothing may be missing. Throws as `parseScores`. */
export function goalVerdict(answer: string): GoalVerdict {
  const scores = parseScores(answer);
  const { correctness, completeness, missingAspects, reason } = scores;
  if (missingAspects.length > 0) return { isReached: false, reason: `Missing: ${missingAspects.join("; ")}.` };
  return { isReached: correctness >= LEAST_CORRECTNESS && completeness >= LEAST_COMPLETENESS, reason };
}

const ACCEPT = "Accept the Result";
const AGAIN = "Run the Task Again";
const STOP = "Do Not Use It";

/** A free answer is an instruction for another run. */
function answeredBy(answer: Answer, verdict: EvaluationVerdict): Evaluation {
  if (answer.kind !== "answered") {
    return { kind: "accept", note: `Nobody decided on a doubtful result: ${verdict.reason}`, verdict };
  }
  switch (answer.text) {
    case ACCEPT:
      return { kind: "accept", verdict };
    case STOP:
      return { kind: "reject", reason: "The user did not accept the result.", verdict };
    case AGAIN:
      return { kind: "again", instruction: retryText(verdict.reason), verdict };
    default:
      return { kind: "again", instruction: retryText(`${verdict.reason} The user says: ${answer.text}`), verdict };
  }
}

function retryText(reason: string): string {
  return `Your result was checked and not accepted: ${reason}\nCorrect what is wrong, then give the whole result again.`;
}

function amendText(missing: string): string {
  return `Your result was checked and is not complete. Missing: ${missing}\nDo that too, then give the whole result again.`;
}

const score = z.number().min(0).max(1);

const answerSchema = z.object({
  correctness: score,
  completeness: score,
  confidence: score,
  missing_aspects: z.array(z.string()).catch([]),
  reason: z.string().catch(""),
});

/** Throws an Error for people when the answer holds no scores between 0 and 1. */
export function parseScores(text: string): Scores {
  const json = /\{[\s\S]*\}/.exec(text)?.[0];
  const parsed = answerSchema.safeParse(json === undefined ? undefined : parseRepairedJson(json)).data;
  if (parsed === undefined) throw new Error("the judge's answer holds no valid scores.");
  const { missing_aspects: missingAspects, reason, ...scores } = parsed;
  return { ...scores, missingAspects, reason: reason.trim() || "The judge gave no reason." };
}
