/** The policy: what an effect needs in which mode, before anybody is asked. */
import { commandGrant } from "./command-grant.ts";
import { judgeCommand } from "./command-verdict.ts";
import type { Effect } from "./effect.ts";
import type { Grant, GrantLookup, GrantOffer } from "./grants.ts";
import { protectedReason } from "./protected-paths.ts";
import type { CommandScope } from "./scope.ts";
import { secretReason } from "./secret-paths.ts";
import type { CommandPart, Verdict } from "./verdict.ts";

/**
 * `ask`: edits and all commands that do more than read ask; `code`: edits land, risky commands ask; `plan`: reading
 * only; `auto`: nothing asks but what is protected or cannot be known.
 */
export type ApprovalMode = "ask" | "code" | "plan" | "auto";

export type PolicyContext = {
  readonly mode: ApprovalMode;
  readonly scope: CommandScope;
  /** Whether the user trusts the workspace. */
  readonly trusted: boolean;
  readonly grants: GrantLookup;
  /** False: what would ask is allowed (`approvals.mode: off`); what is blocked stays so. Default true. */
  readonly asks?: boolean;
  /** Commands can be run in a sandbox, which holds what they do. Default false. */
  readonly sandbox?: boolean;
};

export type Decision =
  /** `sandboxed`: in the sandbox, and nowhere else. */
  | { readonly kind: "allow"; readonly sandboxed?: true }
  /** `text` is for the model: why, and what to do. */
  | { readonly kind: "deny"; readonly text: string }
  /** `grant` is what a lasting answer would cover; undefined when it may not last. */
  | { readonly kind: "ask"; readonly reasons: readonly string[]; readonly grant: GrantOffer | undefined };

const ALLOW: Decision = { kind: "allow" };
const SANDBOXED: Decision = { kind: "allow", sandboxed: true };
const OUTSIDE = "Runs outside the sandbox: with the network, and with all that you may read and write yourself";

/** Decides on an effect. Never asks anybody itself, and never throws. */
export function decide(effect: Effect, context: PolicyContext): Decision {
  const decision = judge(effect, context);
  return decision.kind === "ask" && context.asks === false ? ALLOW : decision;
}

function judge(effect: Effect, context: PolicyContext): Decision {
  switch (effect.kind) {
    case "none":
      return ALLOW;
    case "read":
      return decideRead(effect.paths, context);
    case "edit":
      return decideEdit(effect.paths, context);
    case "command":
      return decideCommand(effect, { ...context, scope: { ...context.scope, cwd: effect.cwd } });
  }
}

function decideRead(paths: readonly string[], context: PolicyContext): Decision {
  const secrets = reasonsOf(paths, (path) => secretReason(path, context.scope));
  if (secrets.length === 0) return ALLOW;
  return askUnlessGranted(
    secrets.map(({ path, reason }) => `Reads ${path}: ${reason}`),
    pathGrant("reading", secrets),
    context,
  );
}

function decideEdit(paths: readonly string[], context: PolicyContext): Decision {
  const { mode, trusted, scope } = context;
  if (!trusted) {
    return deny("The user has not trusted this workspace, so nothing is written in it. Answer with what you can read.");
  }
  if (mode === "plan") {
    return deny("Plan mode is read-only: nothing is written. Describe the change in your plan instead.");
  }
  const guarded = reasonsOf(paths, (path) => protectedReason(path, scope));
  const asking =
    mode === "ask" ? reasonsOf(paths, (path) => protectedReason(path, scope) ?? "every edit asks here") : guarded;
  if (asking.length === 0) return ALLOW;
  return askUnlessGranted(
    asking.map(({ path, reason }) => `Edits ${path}: ${reason}`),
    pathGrant("editing", asking),
    context,
  );
}

type PathReason = { readonly path: string; readonly reason: string };

function reasonsOf(paths: readonly string[], why: (path: string) => string | undefined): readonly PathReason[] {
  return paths.flatMap((path) => {
    const reason = why(path);
    return reason === undefined ? [] : [{ path, reason }];
  });
}

function pathGrant(verb: "reading" | "editing", paths: readonly PathReason[]): GrantOffer {
  const keys = paths.map(({ path }): Grant => ({ id: JSON.stringify([verb, path]), description: `${verb} ${path}` }));
  return { description: keys.map(({ description }) => description).join("; "), keys };
}

type CommandEffect = Extract<Effect, { kind: "command" }>;

function decideCommand({ command, unsandboxed }: CommandEffect, context: PolicyContext): Decision {
  const { mode, trusted, scope, asks, sandbox } = context;
  if (!trusted) {
    return deny("The user has not trusted this workspace, so no command runs in it. Answer with what you can read.");
  }
  const verdict = judgeCommand(command, scope);
  if (verdict.level === "block") {
    return deny(`This command is blocked in every mode: ${verdict.reasons[0] ?? ""}. Do not try it another way.`);
  }
  if (!verdict.isWhole && asks === false) {
    // Nobody would see what it does: it could hold what is blocked in every mode.
    return deny(`This command was not run: ${verdict.always[0] ?? ""}. Write it shorter and plainer, or in several.`);
  }
  const onlyReads = verdict.level === "safe" && verdict.readOnly;
  if (onlyReads) return ALLOW;
  if (mode === "plan") {
    return deny("Plan mode is read-only: only commands that purely read run. Put this one into your plan instead.");
  }
  if (!sandbox) return decideInTheOpen(verdict, context);
  if (!unsandboxed && verdict.isContained && mode !== "ask") return SANDBOXED;
  return decideOutside(verdict, unsandboxed === true, context);
}

function decideInTheOpen(verdict: Verdict, context: PolicyContext): Decision {
  switch (context.mode) {
    case "auto":
      return verdict.always.length === 0 ? ALLOW : { kind: "ask", reasons: verdict.always, grant: undefined };
    case "code":
      return verdict.level === "safe" ? ALLOW : askForParts(verdict, (part) => part.level !== "safe", context);
    default:
      return askForParts(verdict, (part) => part.level !== "safe" || !part.readOnly, context);
  }
}

/** With a sandbox at hand, what asks says that it will not run there; what wants out of it asks for that alone. */
function decideOutside(verdict: Verdict, wantsOut: boolean, context: PolicyContext): Decision {
  const decision =
    wantsOut && verdict.isContained && context.mode === "code"
      ? askForParts(verdict, (part) => part.level !== "safe" || !part.readOnly, context)
      : decideInTheOpen(verdict, context);
  return decision.kind === "ask" ? { ...decision, reasons: [...decision.reasons, OUTSIDE] } : decision;
}

function askForParts(verdict: Verdict, needs: (part: CommandPart) => boolean, context: PolicyContext): Decision {
  const reasons = verdict.reasons.length > 0 ? verdict.reasons : ["It does more than read"];
  // Where every change asks, one that belongs to no command (`> file`) is covered by no command's grant.
  const covered = context.mode !== "ask" || !verdict.loose.changes;
  const grant = covered ? commandGrant(verdict, needs, context.scope) : undefined;
  return askUnlessGranted(reasons, grant, context);
}

function askUnlessGranted(
  reasons: readonly string[],
  grant: GrantOffer | undefined,
  { grants }: PolicyContext,
): Decision {
  return grant !== undefined && grants.covers(grant) ? ALLOW : { kind: "ask", reasons, grant };
}

function deny(text: string): Decision {
  return { kind: "deny", text };
}
