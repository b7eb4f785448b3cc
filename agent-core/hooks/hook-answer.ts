/** Answers of hooks as verdicts, in the formats of the original Hermes Agent, Claude Code and Copilot. */
import * as z from "zod";
import type { FilterEnd } from "../platform/children/run-filter.ts";
import { parseJson } from "../platform/json.ts";
import { bothEnds } from "../platform/one-line.ts";
import type { ForeignFormat } from "./foreign-calls.ts";
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
const text = z.string().min(1);
type Fields = z.infer<typeof record>;

/** The first of these fields with a text. Hooks write null, or another type, for what they leave out. */
function textIn(answer: Fields, ...names: readonly string[]): string | undefined {
  return names.map((name) => text.safeParse(answer[name]).data).find((value) => value !== undefined);
}

function fieldsIn(answer: Fields, ...names: readonly string[]): Fields | undefined {
  return names.map((name) => record.safeParse(answer[name]).data).find((fields) => fields !== undefined);
}

type HookFacts = Pick<HookPayload, "hook_event_name" | "tool_input">;

/** Events at which a block continues the turn. */
const STOPPING: ReadonlySet<HookEvent> = new Set(["on_stop", "pre_verify"]);
/** Events that a command can block by its exit code. */
const BLOCKABLE: ReadonlySet<HookEvent> = new Set([...STOPPING, "pre_tool_call", "post_tool_call", "pre_llm_call"]);
/** Events whose plain output Claude Code adds to the context. */
const CONTEXTUAL: ReadonlySet<HookEvent> = new Set(["on_session_start", "pre_llm_call"]);

/** `format`: of the other agent that the hook is written for. Throws an Error with a reason in one line when the command has failed. */
export function hookVerdict(
  { exitCode, output, errors }: FilterEnd,
  payload: HookFacts,
  format?: ForeignFormat,
): HookVerdict {
  const event = payload.hook_event_name;
  const verdict = verdictIn(output, payload);
  const isBlockable = format === "copilot" ? event === "pre_tool_call" : BLOCKABLE.has(event);
  if (exitCode === BLOCKING_EXIT && isBlockable) {
    const said = verdict?.decision === "block" ? verdict.reason : undefined;
    const reason = said ?? bothEnds(errors.trim(), TEXT_CHARS);
    return { decision: "block", ...(reason !== "" && { reason }) };
  }
  // In Copilot a guard that fails blocks, whatever it asks.
  const isTightening = verdict?.decision === "block" || (verdict?.decision === "ask" && format !== "copilot");
  if (exitCode !== 0 && !isTightening) {
    const line = errors.trim().split("\n", 1)[0]?.slice(0, REASON_CHARS).toWellFormed();
    throw new Error(`it ended with exit code ${exitCode}${line ? `: ${line}` : ""}`);
  }
  return verdict ?? plainVerdict(output.trim(), event, format);
}

/** The strictest verdict of the whole output, or of its lines: a hook also prints its log. */
function verdictIn(output: string, payload: HookFacts): HookVerdict | undefined {
  const plain = output
    .replaceAll("\0", "")
    .trim()
    .replace(/^\ufeff/, "");
  const first = readVerdict(parseJson(plain) ?? parseJson(/^\{[\s\S]*\}/m.exec(plain)?.[0] ?? ""), payload);
  if (first !== undefined) return first;
  const lines = plain.split(/\n|(?<=\})(?=\{")/).filter((line) => line.trim().startsWith("{"));
  const verdicts = lines.map((line) => readVerdict(parseJson(line), payload)).filter((each) => each !== undefined);
  return (
    verdicts.find(({ decision }) => decision === "block") ?? verdicts.find(({ decision }) => decision) ?? verdicts[0]
  );
}

/** Verdict of output that is not a JSON object. */
function plainVerdict(plain: string, event: HookEvent, format: ForeignFormat | undefined): HookVerdict {
  if (plain === "" || format === "copilot" || format === "cursor") return {};
  if (format === "claude" && CONTEXTUAL.has(event)) return { context: bothEnds(plain, TEXT_CHARS) };
  // A guard that meant to answer has failed.
  if (format === "claude" && (event !== "pre_tool_call" || !plain.startsWith("{"))) return {};
  throw new Error(`its answer is not a JSON object: ${JSON.stringify(plain.slice(0, SHOWN_CHARS))}`);
}

/** Verdict in the JSON answer of a command or a plugin; undefined for any other answer. */
export function readVerdict(written: unknown, payload: HookFacts): HookVerdict | undefined {
  const { hook_event_name: event, tool_input: before } = payload;
  const answer = record.safeParse(written).data;
  if (answer === undefined) return undefined;
  const own = fieldsIn(answer, "hookSpecificOutput") ?? {};
  const decision = decisionOf(answer, own, event);
  // Cursor has its own names, in two spellings; `systemMessage` is for people.
  const cursor = ["followup_message", "agentMessage", "agent_message", "userMessage", "user_message"];
  const others = [...cursor, "reason", "message", "stopReason", "systemMessage"];
  const reason = textIn(own, "permissionDecisionReason") ?? textIn(answer, "permissionDecisionReason", ...others);
  const whole = fieldsIn(own, "updatedInput") ?? fieldsIn(answer, "modifiedArgs", "updated_input");
  const part = fieldsIn(answer, "args", "tool_input");
  const input = whole ?? (part === undefined ? undefined : { ...record.safeParse(before).data, ...part });
  const context =
    textIn(own, "additionalContext") ?? textIn(answer, "additionalContext", "additional_context", "context");
  const { result } = answer;
  return {
    ...(decision !== undefined && { decision }),
    ...(reason !== undefined && { reason }),
    ...(input !== undefined && event === "pre_tool_call" && { input }),
    ...(typeof result === "string" && event === "transform_tool_result" && { text: result }),
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

function decisionOf(answer: Fields, own: Fields, event: HookEvent): HookVerdict["decision"] {
  if (answer["continue"] === false) return STOPPING.has(event) ? undefined : "block";
  if (STOPPING.has(event) && textIn(answer, "followup_message") !== undefined) return "block";
  const [action, given] = [textIn(answer, "action"), textIn(answer, "permissionDecision", "permission", "decision")];
  const said = textIn(own, "permissionDecision") ?? given;
  // In the original Hermes Agent `action: approve` asks the user. In Claude Code `decision: approve` allows the call.
  if (said === undefined && action === "approve") return "ask";
  const word = (said ?? action ?? "").toLowerCase();
  if (word === "continue" && STOPPING.has(event) && textIn(answer, "message", "reason") !== undefined) return "block";
  return decisions[word];
}
