/** Answers of hooks as verdicts, in the formats of the original Hermes Agent, Claude Code and Copilot. */
import * as z from "zod";
import type { FilterEnd } from "../platform/children/run-filter.ts";
import { parseJson } from "../platform/json.ts";
import { bothEnds } from "../platform/one-line.ts";
import type { HookEvent, HookPayload, HookVerdict } from "./hook.ts";

/** Exit code with which a command blocks, as in Claude Code. */
const BLOCKING_EXIT = 2;
/** Text of a hook that the model gets; longer ones keep both ends. Characters. */
const TEXT_CHARS = 10_000;
/** Characters of an error that a failed command printed. */
const REASON_CHARS = 400;
/** Characters of an invalid answer in its error message. */
const SHOWN_CHARS = 80;

const record = z.record(z.string(), z.unknown());
/** Hooks write null, or another type, for what they leave out. */
const fields = record.optional().catch(undefined);
const text = z.string().min(1).optional().catch(undefined);

const answerSchema = z.looseObject({
  decision: text,
  action: text,
  reason: text,
  message: text,
  args: fields,
  tool_input: fields,
  context: text,
  result: z.string().optional().catch(undefined),
  continue: z.boolean().optional().catch(undefined),
  stopReason: text,
  /** Cursor. */
  permission: text,
  agentMessage: text,
  permissionDecision: text,
  permissionDecisionReason: text,
  modifiedArgs: fields,
  additionalContext: text,
  hookSpecificOutput: z
    .looseObject({
      permissionDecision: text,
      permissionDecisionReason: text,
      updatedInput: fields,
      additionalContext: text,
    })
    .optional()
    .catch(undefined),
});

type HookFacts = Pick<HookPayload, "hook_event_name" | "tool_input">;
type Answer = z.infer<typeof answerSchema>;

/** Events at which a block continues the turn. */
const STOPPING: ReadonlySet<HookEvent> = new Set(["on_stop", "pre_verify"]);
/** Events that a command can block by its exit code. */
const BLOCKABLE: ReadonlySet<HookEvent> = new Set([...STOPPING, "pre_tool_call", "post_tool_call", "pre_llm_call"]);
/** Events whose plain output Claude Code adds to the context. */
const CONTEXTUAL: ReadonlySet<HookEvent> = new Set(["on_session_start", "pre_llm_call"]);

/**
 * `isForeign`: the hook is written for another agent, so plain words are valid. Throws an Error with a reason in one line when the command has failed.
 */
export function hookVerdict(
  { exitCode, output, errors }: FilterEnd,
  payload: HookFacts,
  isForeign: boolean,
): HookVerdict {
  const event = payload.hook_event_name;
  const verdict = verdictIn(output, payload);
  if (exitCode === BLOCKING_EXIT && BLOCKABLE.has(event)) return blocked(verdict, errors);
  const isTightening = verdict?.decision === "block" || verdict?.decision === "ask";
  if (exitCode !== 0 && !isTightening) {
    const line = errors.trim().split("\n", 1)[0]?.slice(0, REASON_CHARS).toWellFormed();
    throw new Error(`it ended with exit code ${exitCode}${line ? `: ${line}` : ""}`);
  }
  return verdict ?? plainVerdict(output.trim(), event, isForeign);
}

/** The strictest verdict of the whole output, or of its lines: a hook also prints its log. */
function verdictIn(output: string, payload: HookFacts): HookVerdict | undefined {
  const plain = output.trim().replace(/^\ufeff/, "");
  const first = readVerdict(parseJson(plain), payload);
  if (first !== undefined) return first;
  const lines = plain.split("\n").filter((line) => line.trim().startsWith("{"));
  const verdicts = lines.map((line) => readVerdict(parseJson(line), payload)).filter((each) => each !== undefined);
  return (
    verdicts.find(({ decision }) => decision === "block") ?? verdicts.find(({ decision }) => decision) ?? verdicts[0]
  );
}

function blocked(verdict: HookVerdict | undefined, errors: string): HookVerdict {
  const printed = bothEnds(errors.trim(), TEXT_CHARS);
  const reason = (verdict?.decision === "block" ? verdict.reason : undefined) ?? (printed || undefined);
  return { decision: "block", ...(reason !== undefined && { reason }) };
}

/** Verdict of output that is not a JSON object. */
function plainVerdict(plain: string, event: HookEvent, isForeign: boolean): HookVerdict {
  if (plain === "") return {};
  if (isForeign && CONTEXTUAL.has(event)) return { context: bothEnds(plain, TEXT_CHARS) };
  // A guard that meant to answer must not be missed.
  if (isForeign && (event !== "pre_tool_call" || !plain.startsWith("{"))) return {};
  throw new Error(`its answer is not a JSON object: ${JSON.stringify(plain.slice(0, SHOWN_CHARS))}`);
}

/** Verdict in the JSON answer of a command or a plugin; undefined for any other answer. */
export function readVerdict(answer: unknown, payload: HookFacts): HookVerdict | undefined {
  const parsed = answerSchema.safeParse(answer);
  return parsed.success ? verdictOf(parsed.data, payload) : undefined;
}

function verdictOf(answer: Answer, { hook_event_name: event, tool_input: before }: HookFacts): HookVerdict {
  const own = answer.hookSpecificOutput;
  const decision = decisionOf(answer, event);
  const reason =
    own?.permissionDecisionReason ??
    answer.permissionDecisionReason ??
    answer.agentMessage ??
    answer.reason ??
    answer.message ??
    answer.stopReason;
  const whole = own?.updatedInput ?? answer.modifiedArgs;
  const part = answer.args ?? answer.tool_input;
  const input = whole ?? (part === undefined ? undefined : { ...record.safeParse(before).data, ...part });
  const context = own?.additionalContext ?? answer.additionalContext ?? answer.context;
  return {
    ...(decision !== undefined && { decision }),
    ...(reason !== undefined && { reason }),
    ...(input !== undefined && event === "pre_tool_call" && { input }),
    ...(answer.result !== undefined && event === "transform_tool_result" && { text: answer.result }),
    ...(context !== undefined && { context: bothEnds(context, TEXT_CHARS) }),
  };
}

const decisions: Readonly<Record<string, HookVerdict["decision"]>> = {
  block: "block",
  deny: "block",
  ask: "ask",
  approve: "approve",
  allow: "approve",
};

function decisionOf(answer: Answer, event: HookEvent): HookVerdict["decision"] {
  if (answer.continue === false) return STOPPING.has(event) ? undefined : "block";
  const own = answer.hookSpecificOutput?.permissionDecision;
  const said = own ?? answer.permissionDecision ?? answer.permission ?? answer.decision;
  // In the original Hermes Agent `action: approve` asks the user. In Claude Code `decision: approve` allows the call.
  if (said === undefined && answer.action === "approve") return "ask";
  const word = (said ?? answer.action ?? "").toLowerCase();
  if (word === "continue" && STOPPING.has(event) && (answer.message ?? answer.reason) !== undefined) return "block";
  return decisions[word];
}
