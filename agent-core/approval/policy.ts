/** Approval policy: decides in which mode an effect runs, asks or is denied. */
import { commandGrant } from "./command-grant.ts";
import type { CommandScope } from "./command-scope.ts";
import { type CommandVerdict, judgeCommand } from "./command-verdict.ts";
import type { Grant, GrantLookup, GrantOffer } from "./grants.ts";
import { protectedReason } from "./protected-paths.ts";
import { secretReason } from "./secret-paths.ts";
import type { CommandPart } from "./shell/recorder.ts";

/** Effect of a tool call, as far as the approval policy needs it. Paths are absolute. */
export type Effect =
  | { readonly kind: "none" }
  | { readonly kind: "read"; readonly paths: readonly string[] }
  | { readonly kind: "edit"; readonly paths: readonly string[] }
  /** `unsandboxed`: the command must not run in a sandbox. */
  | { readonly kind: "command"; readonly command: string; readonly cwd: string; readonly unsandboxed?: boolean };

/**
 * `ask`: edits and all commands that do more than read ask; `code`: edits land, risky commands ask; `plan`: reading
 * only; `auto`: only protected paths and effects that are not known before they run ask.
 */
export type ApprovalMode = "ask" | "code" | "plan" | "auto";

export type PolicyContext = {
  readonly mode: ApprovalMode;
  readonly scope: CommandScope;
  /** The user trusts the workspace. */
  readonly trusted: boolean;
  readonly grants: GrantLookup;
  /** False: effects that would ask are allowed (`approvals.mode: off`); blocked ones stay blocked. Default true. */
  readonly asks?: boolean;
  /** Commands can run in a sandbox, which confines their effects. Default false. */
  readonly sandbox?: boolean;
};

export type Decision =
  /** `sandboxed`: only in the sandbox. `granted`: a lasting answer of the user covers the effect. */
  | { readonly kind: "allow"; readonly sandboxed?: true; readonly granted?: true }
  /** `text` is for the model: the reason, and what to do instead. */
  | { readonly kind: "deny"; readonly text: string }
  /** `grant`: the offer that a lasting answer accepts; undefined when no answer may last. */
  | { readonly kind: "ask"; readonly reasons: readonly string[]; readonly grant: GrantOffer | undefined };

const ALLOW: Decision = { kind: "allow" };
const GRANTED: Decision = { kind: "allow", granted: true };
const SANDBOXED: Decision = { kind: "allow", sandboxed: true };
const UNSANDBOXED = "Runs outside the sandbox, with the network and with your own access to files";

/** Decides on an effect. Never asks the user itself, and never throws. */
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
    mode === "ask"
      ? reasonsOf(paths, (path) => protectedReason(path, scope) ?? "every edit asks in this mode")
      : guarded;
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
  if (!verdict.isFullyParsed && asks === false) {
    // The part that was not read could be one that is blocked in every mode.
    return deny(
      `This command was not run: ${verdict.alwaysAskReasons[0] ?? ""}. Write it shorter and plainly, or as several commands.`,
    );
  }
  const onlyReads = verdict.level === "safe" && verdict.readOnly;
  if (onlyReads) return ALLOW;
  if (mode === "plan") {
    return deny("Plan mode is read-only: only commands that purely read run. Put this one into your plan instead.");
  }
  if (!sandbox) return decideByMode(verdict, context);
  if (!unsandboxed && verdict.isContained && mode !== "ask") return SANDBOXED;
  return decideUnsandboxed(verdict, unsandboxed === true, context);
}

function decideByMode(verdict: CommandVerdict, context: PolicyContext): Decision {
  switch (context.mode) {
    case "auto":
      return verdict.alwaysAskReasons.length === 0
        ? ALLOW
        : { kind: "ask", reasons: verdict.alwaysAskReasons, grant: undefined };
    case "code":
      return verdict.level === "safe" ? ALLOW : askForParts(verdict, (part) => part.level !== "safe", context);
    default:
      return askForParts(verdict, (part) => part.level !== "safe" || !part.readOnly, context);
  }
}

/** A question about a command that does not run in the available sandbox names that, too. */
function decideUnsandboxed(verdict: CommandVerdict, requestedUnsandboxed: boolean, context: PolicyContext): Decision {
  const decision =
    requestedUnsandboxed && verdict.isContained && context.mode === "code"
      ? askForParts(verdict, (part) => part.level !== "safe" || !part.readOnly, context)
      : decideByMode(verdict, context);
  return decision.kind === "ask" ? { ...decision, reasons: [...decision.reasons, UNSANDBOXED] } : decision;
}

function askForParts(verdict: CommandVerdict, needs: (part: CommandPart) => boolean, context: PolicyContext): Decision {
  const reasons = verdict.reasons.length > 0 ? verdict.reasons : ["The command changes something"];
  // In `ask` mode every change asks, and no command's grant covers a redirection (`> file`).
  const covered = context.mode !== "ask" || !verdict.outsideCommands.changes;
  const grant = covered ? commandGrant(verdict, needs, context.scope) : undefined;
  return askUnlessGranted(reasons, grant, context);
}

function askUnlessGranted(
  reasons: readonly string[],
  grant: GrantOffer | undefined,
  { grants }: PolicyContext,
): Decision {
  return grant !== undefined && grants.covers(grant) ? GRANTED : { kind: "ask", reasons, grant };
}

function deny(text: string): Decision {
  return { kind: "deny", text };
}
