/**
 * Evaluation of a sub-task's result: accept it, run the task again, or ask the user. Facts of the journal come first; the judge
 * is a model that gets only results whose facts hold. A judge that fails never blocks a result.
 */
import { createHash } from "node:crypto";
import * as z from "zod";
import { messageOf } from "../platform/errors.ts";
import { parseRepairedJson } from "../platform/json.ts";
import { type EvaluatedResult, factsText, failedFact, type PathLook } from "./evaluation-facts.ts";
import { judgeRequest, type TaskType, taskTypeOf } from "./rubrics.ts";

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
  /** `instruction`: text for the next run of the task, after its goal. */
  | { readonly kind: "again"; readonly instruction: string }
  | { readonly kind: "reject"; readonly reason: string }
);

type UserAnswer =
  | { readonly kind: "answered"; readonly text: string }
  | { readonly kind: "cancelled" }
  | { readonly kind: "unavailable" };

export type EvaluationPorts = {
  /** Asks the judge at temperature 0. Rejects with a reason for people when no answer comes. */
  judge(request: { readonly system: string; readonly user: string }, signal: AbortSignal): Promise<string>;
  readonly look: PathLook;
  ask(
    question: { readonly question: string; readonly choices: readonly string[] },
    signal: AbortSignal,
  ): Promise<UserAnswer>;
  /** Keeps the verdict in the parent's journal. */
  record(verdict: EvaluationVerdict): void;
};

/** Default of `evaluation.enabled`: a graph is evaluated, because other tasks build on its results. */
export function isEvaluated(setting: boolean | undefined, isGraph: boolean): boolean {
  return setting ?? isGraph;
}

/** Judges results of one session. Equal requests to the judge are answered from its cache. */
export class Evaluator {
  readonly #ports: EvaluationPorts;
  readonly #known = new Map<string, Scores>();

  constructor(ports: EvaluationPorts) {
    this.#ports = ports;
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
    const failure = await failedFact(result, taskType, this.#ports.look);
    signal.throwIfAborted();
    const evaluation =
      failure === undefined
        ? await this.#judged(about, task, result, signal)
        : decide({ ...FAILED, reason: failure }, { ...about, by: "facts" });
    const final = evaluation.verdict.decision === "escalate" ? await this.#escalate(evaluation, signal) : evaluation;
    this.#ports.record(final.verdict);
    return final;
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

const ACCEPT = "Accept the result";
const AGAIN = "Run the task again";
const STOP = "Do not use it";

/** A free answer is an instruction for another run. */
function answeredBy(answer: UserAnswer, verdict: EvaluationVerdict): Evaluation {
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
  return `An earlier run of this task gave a result that was not accepted: ${reason}\nIts changes to files are still there. Correct what is wrong.`;
}

function amendText(missing: string): string {
  return `An earlier run of this task did a part of it, and its changes to files are still there. Do what is missing: ${missing}`;
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
