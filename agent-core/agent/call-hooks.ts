/** The hooks of one tool call: before the policy judges it, after its run, and for the text that the model gets. */
import { HOOK_OF_RULES, HOOK_TEXT_HEAD, type Hooks } from "../hooks/hook.ts";
import { truncate } from "../platform/one-line.ts";
import type { ToolResult } from "../tools/tool.ts";

/** Length of a changed input in the note for the model. Characters. */
const SHOWN_INPUT_CHARS = 2_000;

export type HookedCall = { readonly callId: string; readonly tool: string; readonly input: unknown };

/** Verdict of the hooks on a call, before the policy judges it. */
export type CallVerdict =
  | { readonly kind: "refuse"; readonly text: string }
  | {
      readonly kind: "run";
      /** Changed input; undefined when no hook changed it. */
      readonly input: Readonly<Record<string, unknown>> | undefined;
      /** Reasons of the hooks that ask the user. */
      readonly asks: readonly string[];
      /** True when a hook of the home approves the call, so that the user is not asked. */
      readonly isApproved: boolean;
      /** Notes for the model, which follow the result. */
      readonly notes: readonly string[];
    };

const RUN: CallVerdict = { kind: "run", input: undefined, asks: [], isApproved: false, notes: [] };

export async function beforeCall(call: HookedCall, hooks: Hooks, signal: AbortSignal): Promise<CallVerdict> {
  if (!hooks.has("pre_tool_call")) return RUN;
  const merged = await hooks.run("pre_tool_call", call, signal);
  if (merged.decision === "block") {
    return { kind: "refuse", text: blockText(call.tool, merged) };
  }
  const { input, changedBy } = merged;
  return {
    kind: "run",
    input,
    asks: merged.decision === "ask" ? merged.reasons : [],
    isApproved: merged.decision === "approve",
    notes: [...(input === undefined ? [] : [changeNote(changedBy, input)]), ...merged.context],
  };
}

function blockText(tool: string, { decidedBy, reasons }: Awaited<ReturnType<Hooks["run"]>>): string {
  const labels = [...new Set(decidedBy)];
  if (labels.every((label) => label === HOOK_OF_RULES)) return `${tool} was not run. ${reasons.join(" ")}`;
  const by = `the ${namedHooks(labels)} blocked it`;
  const advice = "Do not try the same thing another way; continue without it, or ask.";
  return `${tool} was not run: ${by}. ${reasons.map(sentence).join(" ")} ${advice}`;
}

function namedHooks(labels: readonly string[]): string {
  return `hook${labels.length === 1 ? "" : "s"} "${labels.join('", "')}"`;
}

/** Makes a sentence of a hook's reason, because other sentences follow it. */
function sentence(reason: string): string {
  const text = reason.trim();
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(text) ? capital : `${capital}.`;
}

/** The result for the model: with the text that hooks add, and then as hooks replace it. */
export async function afterCall(
  call: HookedCall,
  result: ToolResult,
  { hooks, durationMs }: { readonly hooks: Hooks; readonly durationMs: number },
  signal: AbortSignal,
): Promise<ToolResult> {
  const { ok } = result;
  const factsOf = (text: string) => ({
    ...call,
    extra: { result: text, ok, status: ok ? "ok" : "error", duration_ms: Math.round(durationMs) },
  });
  let { text } = result;
  if (hooks.has("post_tool_call")) {
    const { decision, reasons, context } = await hooks.run("post_tool_call", factsOf(text), signal);
    const added = [...(decision === "block" ? reasons : []), ...context];
    text = [text, ...added.map((line) => `${HOOK_TEXT_HEAD}${line}]`)].join("\n\n");
  }
  if (hooks.has("transform_tool_result")) {
    text = (await hooks.run("transform_tool_result", factsOf(text), signal)).text ?? text;
  }
  return text === result.text ? result : { ...result, text };
}

function changeNote(labels: readonly string[], input: Readonly<Record<string, unknown>>): string {
  const json = JSON.stringify(input);
  return `[The ${namedHooks(labels)} changed this call. It ran with the input ${truncate(json, SHOWN_INPUT_CHARS)}]`;
}
