/** Approval policy: decides in which mode an effect runs, asks or is denied. */
import type { SandboxKind } from "../host/terminals/terminals.ts";
import { holdsSecret, redact } from "../providers/redact.ts";
import { commandGrant } from "./command-grant.ts";
import { type CommandScope, partsBelow } from "./command-scope.ts";
import { type CommandVerdict, judgeCommand } from "./command-verdict.ts";
import type { Grant, GrantLookup, GrantOffer } from "./grants.ts";
import { exportedVariables } from "./project-scripts.ts";
import { protectedReason } from "./protected-paths.ts";
import { isHiddenFolder, outsideReason } from "./read-places.ts";
import { secretReason } from "./secret-paths.ts";
import { type CommandPart, type Reach, widerReach } from "./shell/recorder.ts";

/** Effect of a tool call, as far as the approval policy needs it. Paths are absolute. */
export type Effect =
  | { readonly kind: "none" }
  | { readonly kind: "read"; readonly paths: readonly string[] }
  | { readonly kind: "edit"; readonly paths: readonly string[] }
  /** Changes what later sessions know: the memory, or a skill of the home. */
  | { readonly kind: "memory" }
  | { readonly kind: "skill" }
  /** Reads from the internet. `sent`: URLs or a query, which leave the machine. `places`: hosts, for grants. */
  | { readonly kind: "fetch"; readonly sent: readonly string[]; readonly places: readonly string[] }
  /** Works with the browser's page. `site`: host and port of the page. `sent`: an address or typed text. */
  | {
      readonly kind: "browse";
      readonly action: "open" | "act" | "read";
      readonly site: string;
      /** The site is a server of this machine. */
      readonly isLocal: boolean;
      readonly sent: readonly string[];
    }
  /** A tool of an MCP server or a plugin: its effects are known only from hints. */
  | {
      readonly kind: "foreign";
      /** Identity of the server or plugin, for grants. It must change with the program behind the name. */
      readonly origin: string;
      /** Name of the origin for display: `the MCP server github`. */
      readonly originName: string;
      /** The origin's name of the tool. */
      readonly tool: string;
      /** The tool only reads, by the word of an origin that the user chose. */
      readonly readOnly: boolean;
      readonly args: unknown;
    }
  | {
      readonly kind: "command";
      readonly command: string;
      readonly cwd: string;
      /** File with the variables that earlier commands exported. */
      readonly variables?: string | undefined;
      /** The call asks for the network, or for no sandbox at all. Default: as the command needs. */
      readonly reach?: Reach | undefined;
    };

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
  /** Files of the workspace that the agent wrote. `decide` adds those of the effects that it lets through or asks about. */
  readonly written?: Set<string>;
  /** Values of the user's secrets. Default: none. */
  readonly secrets?: readonly string[];
  /** Commands can run in a sandbox, which confines their effects. Default false. */
  readonly sandbox?: boolean;
};

/** `sandbox`: the command runs only in this one. */
export type Decision = {
  readonly sandbox?: SandboxKind;
} /** `granted`: a lasting answer of the user covers the effect. */ & (
  | { readonly kind: "allow"; readonly granted?: true }
  /** `text` is for the model: the reason, and what to do instead. */
  | { readonly kind: "deny"; readonly text: string }
  /** `grant`: the offer that a lasting answer accepts; undefined when no answer may last. */
  | {
      readonly kind: "ask";
      readonly reasons: readonly string[];
      /** Concerns a protected file: only the user may allow it. */
      readonly isProtected?: true;
      readonly grant: GrantOffer | undefined;
    }
);

const ALLOW: Decision = { kind: "allow" };
const GRANTED: Decision = { kind: "allow", granted: true };
const UNSANDBOXED = "Runs outside the sandbox, with the network and with your own access to files";
const NETWORKED = "Uses the network, from inside the sandbox";

/** Decides on an effect. Never asks the user itself, and never throws. */
export function decide(effect: Effect, context: PolicyContext): Decision {
  const decision = judge(effect, context);
  if (effect.kind === "edit" && decision.kind !== "deny") for (const path of effect.paths) context.written?.add(path);
  if (decision.kind !== "ask" || context.asks !== false) return decision;
  return decision.sandbox === undefined ? ALLOW : { ...ALLOW, sandbox: decision.sandbox };
}

function judge(effect: Effect, context: PolicyContext): Decision {
  switch (effect.kind) {
    case "none":
      return ALLOW;
    case "read":
      return decideRead(effect.paths, context);
    case "edit":
      return decideEdit(effect.paths, context);
    case "memory":
    case "skill":
      return decideKnowledge(effect.kind, context);
    case "fetch":
      return decideFetch(effect, context);
    case "browse":
      return decideBrowse(effect, context);
    case "foreign":
      return decideForeign(effect, context);
    case "command": {
      const variables =
        effect.variables === undefined ? new Map<string, string>() : exportedVariables(effect.variables);
      return decideCommand(effect, { ...context, scope: { ...context.scope, cwd: effect.cwd, variables } });
    }
  }
}

function decideRead(paths: readonly string[], context: PolicyContext): Decision {
  const { scope, trusted } = context;
  const asking = reasonsOf(paths, (path) => secretReason(path, scope) ?? outsideReason(path, scope));
  if (asking.length === 0) return ALLOW;
  const reasons = asking.map(({ path, reason }) => `Reads ${path}: ${reason}`);
  if (!trusted) {
    return deny(
      `The user has not trusted this workspace, so nothing but its own files is read. ${reasons[0] ?? ""}. Answer without it.`,
    );
  }
  const decision = askUnlessGranted(reasons, pathGrant("reading", asking), context);
  return paths.some((path) => secretReason(path, scope) !== undefined) ? asProtected(decision) : decision;
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
  const decision = askUnlessGranted(
    asking.map(({ path, reason }) => `Edits ${path}: ${reason}`),
    pathGrant("editing", asking),
    context,
  );
  return guarded.length > 0 ? asProtected(decision) : decision;
}

type Knowledge = { readonly plan: string; readonly reason: string; readonly grant: GrantOffer };

const KNOWLEDGE: Readonly<Record<"memory" | "skill", Knowledge>> = {
  memory: {
    plan: "nothing is remembered. Put the fact into your plan instead.",
    reason: "Every later session begins with the memory",
    grant: {
      description: "changing the memory",
      keys: [{ id: JSON.stringify(["memory"]), description: "changing the memory" }],
    },
  },
  skill: {
    plan: "no skill is changed. Describe it in your plan instead.",
    reason: "Later sessions follow the skill",
    grant: {
      description: "changing skills",
      keys: [{ id: JSON.stringify(["skill"]), description: "changing skills" }],
    },
  },
};

function decideKnowledge(kind: "memory" | "skill", context: PolicyContext): Decision {
  const { mode, trusted } = context;
  const { plan, reason, grant } = KNOWLEDGE[kind];
  if (!trusted) return deny("The user has not trusted this workspace, so nothing from it is remembered.");
  if (mode === "plan") return deny(`Plan mode is read-only: ${plan}`);
  if (mode === "auto") return ALLOW;
  return askUnlessGranted([reason], grant, context);
}

/** Longer addresses and queries can carry a file away. Addresses of pages rarely have 300 characters. */
const MAX_SENT_CHARS = 500;

/** A page changes nothing here, but its address carries text away. */
function decideFetch(
  { sent, places }: Extract<Effect, { kind: "fetch" }>,
  { secrets = [], ...context }: PolicyContext,
): Decision {
  const { mode, trusted } = context;
  if (!trusted) return deny("The user has not trusted this workspace, so nothing is fetched from the internet for it.");
  const keys = places.map(
    (place): Grant => ({ id: JSON.stringify(["fetch", place]), description: `reading ${place}` }),
  );
  const grant = { description: keys.map(({ description }) => description).join("; "), keys };
  const leaks = sent.filter((text) => holdsSecret(text, secrets));
  const long = sent.filter((text) => text.length > MAX_SENT_CHARS);
  if (leaks.length > 0) {
    const reasons = leaks.map((text) => `Sends what looks like a key or another secret: ${redact(text, secrets)}`);
    return asProtected({ kind: "ask", reasons, grant: undefined });
  }
  if (mode === "auto") return ALLOW;
  if (long.length > 0) {
    const reasons = long.map((text) => `Sends ${text.length} characters: ${text}`);
    return { kind: "ask", reasons, grant: undefined };
  }
  return mode === "ask"
    ? askUnlessGranted(
        sent.map((text) => `Reads ${text}`),
        grant,
        context,
      )
    : ALLOW;
}

/** A page of the internet is a fetch. Opening a server of this machine, and acting on a page, ask once for the site. */
function decideBrowse(
  { action, site, isLocal, sent }: Extract<Effect, { kind: "browse" }>,
  context: PolicyContext,
): Decision {
  const { mode } = context;
  if (action === "read") return ALLOW;
  const fetched = decideFetch({ kind: "fetch", sent, places: [site] }, context);
  if ((action === "open" && !isLocal) || fetched.kind === "deny") return fetched;
  if (mode === "plan" && action === "act") {
    return deny("Plan mode is read-only: pages are only read. Put the action into your plan instead.");
  }
  if (mode === "auto" || (fetched.kind === "ask" && fetched.isProtected)) return fetched;
  const description = `opening, clicking and typing on ${site}`;
  const reason = action === "open" ? `Opens ${site}, a server of this machine` : `Clicks and types on ${site}`;
  return askUnlessGranted(
    [reason],
    { description, keys: [{ id: JSON.stringify(["browse", site]), description }] },
    context,
  );
}

function decideForeign(
  { origin, originName, tool, readOnly, args }: Extract<Effect, { kind: "foreign" }>,
  context: PolicyContext,
): Decision {
  const { mode, trusted } = context;
  if (!trusted) return deny(`The user has not trusted this workspace, so no tool of ${originName} runs in it.`);
  if (readOnly && mode !== "ask") return ALLOW;
  if (mode === "plan" && !readOnly) {
    return deny("Plan mode is read-only: this tool may change something. Put the call into your plan instead.");
  }
  const description = `calls of ${tool} of ${originName}`;
  const grant = { description, keys: [{ id: JSON.stringify(["foreign", origin, tool]), description }] };
  const reasons = [`Calls ${tool} of ${originName}`, `Arguments: ${JSON.stringify(args)}`];
  return askUnlessGranted(reasons, grant, context);
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

function decideCommand(effect: CommandEffect, context: PolicyContext): Decision {
  const { mode, trusted, scope, asks, sandbox } = context;
  if (!trusted) {
    return deny("The user has not trusted this workspace, so no command runs in it. Answer with what you can read.");
  }
  const verdict = judgeCommand(effect.command, scope);
  if (verdict.level === "block") {
    return deny(`This command is blocked in every mode: ${verdict.reasons[0] ?? ""}. Do not try it another way.`);
  }
  if (!verdict.isFullyParsed && asks === false) {
    // The part that was not read could be one that is blocked in every mode.
    return deny(
      `This command was not run: ${verdict.alwaysAskReasons[0] ?? ""}. Write it shorter and plainly, or as several commands.`,
    );
  }
  for (const path of verdict.writes) context.written?.add(path);
  const onlyReads = verdict.level === "safe" && verdict.readOnly;
  if (mode === "plan" && !onlyReads) {
    return deny("Plan mode is read-only: only commands that purely read run. Put this one into your plan instead.");
  }
  if (sandbox) return withSecrets(decideInSandbox(verdict, effect, context), verdict, context);
  return withSecrets(onlyReads ? ALLOW : decideByMode(verdict, context), verdict, context);
}

/**
 * A command that may print a secret file without naming it: the sandbox hides the file from a command that only reads;
 * otherwise the question and its grant are those of reading the file. Code in the sandbox sees the workspace's secrets.
 */
function withSecrets(decision: Decision, verdict: CommandVerdict, context: PolicyContext): Decision {
  const { reachedSecrets, printsHistory } = verdict;
  if (reachedSecrets.length === 0 || decision.kind === "deny") return decision;
  if (decision.kind === "allow" && decision.sandbox === "isolated") {
    if (verdict.readOnly && !printsHistory) return { ...decision, sandbox: "reading" };
    if (verdict.level !== "safe" || verdict.runsProject) return decision;
  }
  const asking = reachedSecrets.slice(0, MAX_SECRETS).map((path) => ({ path, reason: "" }));
  const isWhole = asking.length === reachedSecrets.length;
  const reading = pathGrant("reading", asking);
  if (isWhole && context.grants.covers(reading)) return decision;
  const named = [...asking.map(({ path }) => path), ...(isWhole ? [] : ["…"])].join(", ");
  return askToo(
    decision,
    `May print ${named}: such files usually hold keys or passwords`,
    isWhole ? reading : undefined,
  );
}

/** The question of `decision`, if it asks, and one more reason. Without `grant` no answer lasts. */
function askToo(decision: Decision, reason: string, grant: GrantOffer | undefined): Decision {
  const { sandbox } = decision;
  const earlier = decision.kind === "ask" ? decision : undefined;
  const first = earlier ? earlier.grant : NO_GRANT;
  const both = first &&
    grant && {
      description: [first, grant]
        .map((each) => each.description)
        .filter(Boolean)
        .join("; "),
      keys: [...first.keys, ...grant.keys],
    };
  const reasons = [...(earlier?.reasons ?? []), reason];
  return { kind: "ask", reasons, grant: both, isProtected: true, ...(sandbox && { sandbox }) };
}

const NO_GRANT: GrantOffer = { description: "", keys: [] };
/** Most secret files in a question. */
const MAX_SECRETS = 5;

/** Each command runs in the sandbox as far as it can; a command that needs more asks. */
function decideInSandbox(
  verdict: CommandVerdict,
  { reach: requested, cwd }: CommandEffect,
  context: PolicyContext,
): Decision {
  const needed = widerReach(verdict.reach, isHiddenFolder(cwd, context.scope) ? "outside" : "inside");
  const reach = widerReach(needed, requested ?? "inside");
  switch (reach) {
    case "inside":
      return { ...decideInside(verdict, context), sandbox: "isolated" };
    case "network":
      return { ...decideBeyond(verdict, NETWORKED, context), sandbox: "networked" };
    case "outside":
      // A command that a sandbox holds leaves it only on the user's word.
      return decideBeyond(verdict, UNSANDBOXED, needed === "outside" ? context : { ...context, mode: "ask" });
  }
}

function decideInside(verdict: CommandVerdict, context: PolicyContext): Decision {
  if (verdict.level === "safe" && verdict.readOnly) return ALLOW;
  return verdict.isContained && context.mode !== "ask" ? ALLOW : decideByMode(verdict, context);
}

/** `reason` says how the command goes beyond the sandbox. */
function decideBeyond(verdict: CommandVerdict, reason: string, context: PolicyContext): Decision {
  const decision =
    context.mode === "auto"
      ? decideByMode(verdict, context)
      : askForParts(verdict, (part) => part.level !== "safe" || !part.readOnly || part.reach !== "inside", context);
  return decision.kind === "ask" ? { ...decision, reasons: [...decision.reasons, reason] } : decision;
}

function decideByMode(verdict: CommandVerdict, context: PolicyContext): Decision {
  switch (context.mode) {
    case "auto":
      return verdict.alwaysAskReasons.length === 0
        ? ALLOW
        : { kind: "ask", reasons: verdict.alwaysAskReasons, grant: undefined };
    case "code":
      return verdict.level === "safe" && ownCode(verdict, context) === undefined
        ? ALLOW
        : askForParts(verdict, (part) => part.level !== "safe", context);
    default:
      return askForParts(verdict, (part) => part.level !== "safe" || !part.readOnly, context);
  }
}

function askForParts(verdict: CommandVerdict, needs: (part: CommandPart) => boolean, context: PolicyContext): Decision {
  const own = ownCode(verdict, context);
  const reasons = own === undefined ? verdict.reasons : [...verdict.reasons, own.reason];
  // In `ask` mode every change asks, and no command's grant covers a redirection (`> file`).
  const covered = context.mode !== "ask" || !verdict.outsideCommands.changes;
  const grant = covered ? commandGrant(verdict, needs, context.scope, own === undefined ? [] : [own.key]) : undefined;
  const changes = verdict.readOnly ? [] : ["The command changes something"];
  return askUnlessGranted(reasons.length > 0 ? reasons : changes, grant, context);
}

/** Files that no program runs. */
const DATA = /\.(?:md|mdx|txt|rst|adoc|css|scss|less|svg|png|jpe?g|gif|csv|tsv|log|lock|html?|po|snap)$/i;

/** Without a sandbox, code that the agent wrote asks once in a workspace before it runs. */
function ownCode(verdict: CommandVerdict, { mode, sandbox, scope, written }: PolicyContext): OwnCode | undefined {
  const root = scope.roots.find((each) => partsBelow(each, scope.cwd) !== undefined) ?? scope.cwd;
  if (!verdict.runsProject || sandbox || mode === "auto") return undefined;
  const files = [...(written ?? [])].filter((path) => partsBelow(root, path) !== undefined && !DATA.test(path));
  if (files.length === 0) return undefined;
  const shown = files.slice(0, 3).map((path) => partsBelow(root, path)?.join("/"));
  const key = {
    id: JSON.stringify(["own code", root]),
    description: `running the code of ${root}, the agent's changes to it too`,
  };
  return { reason: `Runs code that the agent changed: ${shown.join(", ")}${files.length > 3 ? ", …" : ""}`, key };
}

type OwnCode = { readonly reason: string; readonly key: Grant };

function askUnlessGranted(
  reasons: readonly string[],
  grant: GrantOffer | undefined,
  { grants }: PolicyContext,
): Decision {
  return grant !== undefined && grants.covers(grant) ? GRANTED : { kind: "ask", reasons, grant };
}

function asProtected(decision: Decision): Decision {
  return decision.kind === "ask" ? { ...decision, isProtected: true } : decision;
}

function deny(text: string): Decision {
  return { kind: "deny", text };
}
