/** The policy: what an effect needs in which mode, before anybody is asked. */
import { isAbsolute, resolve } from "node:path";
import type { Effect } from "./effect.ts";
import { catastropheOf } from "./floor-pattern.ts";
import type { GrantOffer, Grants } from "./grants.ts";
import { hiddenCharacters } from "./hidden-characters.ts";
import { judgePlainCommand } from "./plain-command.ts";
import { protectedReason } from "./protected-paths.ts";
import type { CommandScope } from "./scope.ts";
import { secretReason } from "./secret-paths.ts";

/** `ask`: edits and commands ask; `code`: edits land, risky commands ask; `plan`: reading only; `auto`: nothing asks but what is protected. */
export type ApprovalMode = "ask" | "code" | "plan" | "auto";

export type PolicyContext = {
  readonly mode: ApprovalMode;
  readonly scope: CommandScope;
  readonly trusted: boolean;
  readonly grants: Grants;
};

export type Decision =
  | { readonly kind: "allow" }
  /** `text` is for the model: why, and what to do. */
  | { readonly kind: "deny"; readonly text: string }
  | { readonly kind: "ask"; readonly reasons: readonly string[]; readonly grant: GrantOffer | undefined };

const ALLOW: Decision = { kind: "allow" };

export function decide(effect: Effect, context: PolicyContext): Decision {
  switch (effect.kind) {
    case "none":
      return ALLOW;
    case "read":
      return decideRead(effect.paths, context);
    case "edit":
      return decideEdit(effect.paths, context);
    case "command":
      return decideCommand(effect.command, effect.cwd, context);
  }
}

function decideRead(paths: readonly string[], context: PolicyContext): Decision {
  const reasons = paths.map((path) => secretReason(path, context.scope)).filter((reason) => reason !== undefined);
  if (reasons.length === 0) return ALLOW;
  return askUnlessGranted(
    reasons,
    { description: `reading ${paths.join(", ")}`, keys: paths.map((path) => `read ${path}`) },
    context,
  );
}

function decideEdit(paths: readonly string[], context: PolicyContext): Decision {
  const { mode, trusted, scope } = context;
  if (!trusted)
    return deny("The user has not trusted this workspace, so nothing is written in it. Answer with what you can read.");
  if (mode === "plan")
    return deny("Plan mode is read-only: nothing is written. Describe the change in your plan instead.");
  const offer = { description: `editing ${paths.join(", ")}`, keys: paths.map((path) => `edit ${path}`) };
  const guarded = paths.map((path) => protectedReason(path, scope)).filter((reason) => reason !== undefined);
  if (guarded.length > 0) return askUnlessGranted(guarded, offer, context);
  return mode === "ask" ? askUnlessGranted(["In this mode every edit asks"], offer, context) : ALLOW;
}

function decideCommand(command: string, cwd: string, context: PolicyContext): Decision {
  const { mode, trusted, scope } = context;
  if (!trusted)
    return deny("The user has not trusted this workspace, so no command runs in it. Answer with what you can read.");
  const { harmless, readOnly, commands } = judgePlainCommand(command);
  // What is known to be harmless may mention a catastrophe, as a search for one does.
  const catastrophe = harmless ? undefined : catastropheOf(command);
  if (catastrophe !== undefined)
    return deny(`This command is blocked in every mode: ${catastrophe}. Do not try it another way.`);
  if (command.includes("\0"))
    return deny("The command has a NUL character in it, which no shell takes. Write it without.");
  const hidden = hiddenCharacters(command);
  const secrets = commands.flat().map((word) => secretReason(isAbsolute(word) ? word : resolve(cwd, word), scope));
  const reasons = [hidden, ...secrets].filter((reason) => reason !== undefined);
  if (mode === "plan" && !readOnly)
    return deny("Plan mode is read-only: only commands that purely read run. Put it into your plan instead.");
  const runs = mode === "ask" ? readOnly : harmless;
  if (reasons.length === 0 && (mode === "auto" || runs)) return ALLOW;
  if (!runs) reasons.push("It may change files or run other programs");
  return askUnlessGranted(
    reasons,
    { description: `exactly this command in ${cwd}`, keys: [`run ${cwd}\n${command}`] },
    context,
  );
}

function askUnlessGranted(reasons: readonly string[], grant: GrantOffer, { grants }: PolicyContext): Decision {
  return grants.covers(grant) ? ALLOW : { kind: "ask", reasons, grant };
}

function deny(text: string): Decision {
  return { kind: "deny", text };
}
