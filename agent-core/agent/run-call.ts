/** Runs one resolved tool call: hooks, policy, staging, permission, run, hooks. */
import type { Hooks } from "../hooks/hook.ts";
import type { RecordedAnswer } from "../sessions/outcome-entries.ts";
import { writeFault } from "../sessions/write-fault.ts";
import type { WatchedEdits } from "../tools/edit-problems.ts";
import { limitResult } from "../tools/result-limit.ts";
import type { ToolContext, ToolResult } from "../tools/tool.ts";
import {
  type Asker,
  askUser,
  judgeFurtherFiles,
  type ModelApprovalRequest,
  type Policy,
  type PolicyDecision,
  placeReasons,
  withHookVerdict,
} from "./approvals.ts";
import { afterCall, beforeCall, type CallVerdict, type HookedCall } from "./call-hooks.ts";
import { causeOf } from "./cancellation.ts";
import type { Notifier } from "./notifier.ts";
import { type CallableTools, calledName, type ResolvedCall, resolveCall, startedEvent } from "./resolve-call.ts";

/** Time for a running tool to stop after a cancel, so that the turn ends within 250 ms. */
const ABORT_GRACE_MS = 150;

export type CallServices = CallableTools & {
  readonly policy: Policy;
  readonly hooks: Hooks;
  /** Files that calls of this turn changed, absolute. */
  readonly changedPaths: Set<string>;
  readonly ask: Asker | undefined;
  /** In the mode `smart`: reason why the model considers a command harmless; undefined when the user must be asked. */
  readonly modelApproval:
    | ((request: ModelApprovalRequest, signal: AbortSignal) => Promise<string | undefined>)
    | undefined;
  readonly notify: Notifier;
  /** Keeps the answer to a permission request or a question for later evaluation. */
  readonly recordAnswer: (answer: RecordedAnswer) => void;
  /** Milliseconds of a monotonic clock. */
  readonly monotonicNow: () => number;
  /** Its late problems go into the next result or request. */
  readonly edits: WatchedEdits;
  /** Files of the calls that are parts of the current one. */
  readonly nestedPaths?: string[];
  contextFor(callId: string, signal: AbortSignal): ToolContext;
  /** Writes an over-long result to a file. Rejects when the file cannot be written. */
  writeSpill(path: string, text: string): Promise<void>;
  /** Instructions in the folders of these files that the model has not seen yet; empty when there are none. */
  subfolderContext(paths: readonly string[]): Promise<string>;
};

/** Runs a resolved call and returns its result. Throws the signal's reason when the turn was cancelled. */
export async function runCall(
  resolved: ResolvedCall,
  services: CallServices,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { notify, monotonicNow } = services;
  const { call } = resolved;
  const name = calledName(resolved);
  const start = monotonicNow();
  const nestedPaths: string[] = [];
  const timed = withTimedQuestions({ ...services, nestedPaths });
  const finish = (result: ToolResult): ToolResult => {
    const durationMs = monotonicNow() - start - timed.waitedMs();
    notify.toolProgress({ type: "finished", callId: call.id, name, result, durationMs });
    return result;
  };
  try {
    const result = resolved.ok
      ? await awaitWithAbortGrace(runWithHooks(resolved, timed.services, signal), signal)
      : failed(resolved.text);
    // The result of a cancelled delegation names the effects of its sub-agents.
    if (result.tasks === undefined) signal.throwIfAborted();
    const text = await limited(result.text, call.id, services, signal);
    if (result.ok) for (const { path } of result.diffs ?? []) services.changedPaths.add(path);
    const paths = resolved.ok && result.ok ? resolved.prepared.locations.map(({ path }) => path) : [];
    if (resolved.parentCallId !== undefined) {
      // The model may never read this text, so notes for it wait for the result of the parent.
      services.nestedPaths?.push(...paths);
      return finish({ ...result, text });
    }
    const instructions = await services.subfolderContext([...paths, ...nestedPaths]);
    const late = services.edits.takeLate();
    return finish({ ...result, text: [text, ...(instructions === "" ? [] : [instructions]), ...late].join("\n\n") });
  } catch (error) {
    if (signal.aborted) {
      // A call that still waits for its permission did not fail.
      finish({ ...failed(`${name} was ${causeOf(signal)}.`), ...(timed.isUnanswered() && { rejected: true }) });
      throw signal.reason;
    }
    return finish(failed(await limited(`${name} failed: ${writeFault(error)}`, call.id, services, signal)));
  }
}

/** Measures the time that the user takes to answer: the duration of a call does not include it. */
function withTimedQuestions(services: CallServices): {
  readonly services: CallServices;
  waitedMs(): number;
  /** True when the user was asked for permission and did not give it. */
  isUnanswered(): boolean;
} {
  const { ask, monotonicNow } = services;
  let waited = 0;
  let isUnanswered = false;
  const answered: Asker = async (request, signal) => {
    isUnanswered = true;
    const answer = (await ask?.(request, signal)) ?? { kind: "unavailable" };
    isUnanswered = answer.kind === "unavailable" || answer.kind === "rejected";
    return answer;
  };
  const timed = async <Result>(answer: () => Promise<Result>): Promise<Result> => {
    const start = monotonicNow();
    try {
      return await answer();
    } finally {
      waited += monotonicNow() - start;
    }
  };
  return {
    waitedMs: () => waited,
    isUnanswered: () => isUnanswered,
    services: {
      ...services,
      ask: ask && ((request, signal) => timed(() => answered(request, signal))),
      contextFor: (callId, signal) => {
        const context = services.contextFor(callId, signal);
        return { ...context, ask: (question, asked) => timed(() => context.ask(question, asked)) };
      },
    },
  };
}

type Allowance = Extract<PolicyDecision, { kind: "allow" }>;
type RunnableCall = Extract<ResolvedCall, { ok: true }>;

function limited(text: string, callId: string, services: CallServices, signal: AbortSignal): Promise<string> {
  return limitResult(text, { ...services, callId, spillFolder: services.contextFor(callId, signal).spillFolder });
}

/** All tool calls pass here, so that no tool and no sub-agent escapes the hooks. */
async function runWithHooks(resolved: RunnableCall, services: CallServices, signal: AbortSignal): Promise<ToolResult> {
  const { hooks, monotonicNow } = services;
  const { call, tool, input } = resolved;
  const hooked = await judgeByHooks(resolved, services, signal);
  const start = monotonicNow();
  const result = hooked.ok
    ? withNotes(await authorizeAndRun(hooked.call, hooked.verdict, services, signal), hooked.verdict.notes)
    : failed(hooked.text);
  if (!hooks.has("post_tool_call") && !hooks.has("transform_tool_result")) return result;
  const text = await limited(result.text, call.id, services, signal);
  const facts: HookedCall = { callId: call.id, tool: tool.name, input: hooked.ok ? hooked.call.input : input };
  return afterCall(facts, { ...result, text }, { hooks, durationMs: monotonicNow() - start }, signal);
}

type HookedVerdict = Extract<CallVerdict, { kind: "run" }>;

/** Asks the hooks about a call. A changed input is checked like the model's, and the client gets the changed call. */
async function judgeByHooks(
  resolved: RunnableCall,
  { hooks, cwd, shell, notify }: CallServices,
  signal: AbortSignal,
): Promise<
  | { readonly ok: true; readonly call: RunnableCall; readonly verdict: HookedVerdict }
  | { readonly ok: false; readonly text: string }
> {
  const { call, tool } = resolved;
  const verdict = await beforeCall({ callId: call.id, tool: tool.name, input: resolved.input }, hooks, signal);
  if (verdict.kind === "refuse") return { ok: false, text: verdict.text };
  const { input } = verdict;
  if (input === undefined) return { ok: true, call: resolved, verdict };
  const preparation = tool.prepare(input, cwd, shell);
  if (!preparation.ok) return { ok: false, text: `A hook changed the input of this call. ${preparation.text}` };
  const changed: RunnableCall = { ...resolved, input, prepared: preparation.call };
  notify.toolProgress(startedEvent(changed));
  return { ok: true, call: changed, verdict };
}

/** Judges, stages and runs a call that the hooks let through. */
async function authorizeAndRun(
  resolved: RunnableCall,
  verdict: HookedVerdict,
  services: CallServices,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { call, tool, input, prepared, isFromCode = false } = resolved;
  const judgedEffect = "sent" in prepared.effect ? { ...prepared.effect, isFromCode } : prepared.effect;
  const first = await services.policy.decide(judgedEffect);
  const early = withHookVerdict(first, verdict);
  if (early.kind === "deny") return failed(early.text);
  const context: ToolContext = {
    ...services.contextFor(call.id, signal),
    sandbox: early.sandbox,
    writable: early.writable,
    callTool: nestedCalls(call.id, services, tool.kind === "execute"),
    callableTools: () => services.tools.map((callable) => callable.schema),
  };
  const staged = await prepared.stage(context);
  if (!staged.ok) return failed(staged.text);
  signal.throwIfAborted();
  const judgeFiles = () => judgeFurtherFiles(prepared.effect, staged.diffs, services.policy);
  const judged = (await judgeFiles()) ?? first;
  const decision = withHookVerdict(judged, verdict);
  if (decision.kind === "deny") return failed(decision.text);
  const by = decision.kind === "allow" && answererOf(decision, judged);
  if (by) services.recordAnswer(allowed(resolved, by));
  const isAsked = decision.kind === "ask" && !(await isApprovedByModel(resolved, decision, services, signal));
  if (isAsked) {
    const { title, locations, effect } = prepared;
    const request = {
      callId: call.id,
      name: tool.name,
      title,
      kind: tool.kind,
      locations,
      input,
      diffs: staged.diffs,
      ...(effect.kind === "command" && { command: effect.command }),
    };
    const place = placeReasons(prepared.effect, services.cwd, context);
    const withPlace = { ...decision, reasons: [...decision.reasons, ...place] };
    const authorization = await askUser(
      request,
      withPlace,
      {
        ask: services.ask,
        record: services.recordAnswer,
        hooks: services.hooks,
        policy: services.policy,
        judge: async () =>
          withHookVerdict((await judgeFiles()) ?? (await services.policy.decide(judgedEffect)), verdict),
      },
      signal,
    );
    if (!authorization.ok) return authorization;
  }
  services.notify.toolProgress({ type: "running", callId: call.id, diffs: staged.diffs });
  const start = services.monotonicNow();
  let durationMs = 0;
  const returned = await services.edits.run(staged, context, (result) => {
    services.notify.toolProgress({ type: "finished", callId: call.id, name: tool.name, result, durationMs });
  });
  durationMs = services.monotonicNow() - start;
  if (isAsked || tool.kind !== "execute") return returned;
  return { ...returned, text: await services.policy.hideSecrets(returned.text) };
}

type CallTool = NonNullable<ToolContext["callTool"]>;

/** Runs calls as parts of the call `parentCallId`, with ids of their own. */
function nestedCalls(parentCallId: string, services: CallServices, isFromCode: boolean): CallTool {
  let count = 0;
  return (name, input, signal) => {
    count += 1;
    const id = `${parentCallId}/${count}`;
    const call = { id, type: "function", function: { name, arguments: JSON.stringify(input ?? {}) } } as const;
    const resolved = { ...resolveCall(call, services), parentCallId, isFromCode };
    services.notify.toolProgress(startedEvent(resolved));
    return runCall(resolved, services, signal);
  };
}

/** A model may only approve a command for which the policy offers a grant, and which does not need the user's own answer. */
async function isApprovedByModel(
  resolved: RunnableCall,
  { reasons, grant, isProtected }: Extract<PolicyDecision, { kind: "ask" }>,
  { modelApproval, notify, recordAnswer }: CallServices,
  signal: AbortSignal,
): Promise<boolean> {
  const { effect } = resolved.prepared;
  if (modelApproval === undefined || grant === undefined || isProtected || effect.kind !== "command") return false;
  const { command } = effect;
  const reason = await modelApproval({ command, reasons }, signal);
  if (reason === undefined) return false;
  recordAnswer(allowed(resolved, "model"));
  notify.status({ severity: "info", message: `Allowed without asking: \`${command}\`. ${reason}` });
  return true;
}

function allowed({ call, tool }: RunnableCall, by: RecordedAnswer["by"]): RecordedAnswer {
  return { callId: call.id, tool: tool.name, request: "permission", outcome: "allowed", by };
}

/** A grant or a hook that answers for the user. */
function answererOf({ granted }: Allowance, judged: PolicyDecision): RecordedAnswer["by"] | undefined {
  if (granted) return "grant";
  return judged.kind === "ask" ? "hook" : undefined;
}

function withNotes(result: ToolResult, notes: readonly string[]): ToolResult {
  return notes.length === 0 ? result : { ...result, text: [result.text, ...notes].join("\n\n") };
}

function failed(text: string): ToolResult {
  return { ok: false, text };
}

/** Settles as `work` does. Rejects with the signal's reason when the work continues for too long after a cancel. */
async function awaitWithAbortGrace<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: overdue, reject } = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const cancelled = (): void => {
    timer = setTimeout(() => reject(signal.reason), ABORT_GRACE_MS);
  };
  if (signal.aborted) cancelled();
  else signal.addEventListener("abort", cancelled, { once: true });
  try {
    return await Promise.race([work, overdue]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancelled);
  }
}
