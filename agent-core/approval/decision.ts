/** Effects of tool calls as the approval sees them, and its decisions. */
import type { SandboxKind } from "../host/terminals/terminals.ts";
import type { Reach } from "./command-effect.ts";
import type { CommandScope } from "./command-scope.ts";
import type { GrantLookup, GrantOffer } from "./grants.ts";

/** Effect of a tool call, as far as the approval policy needs it. Paths are absolute. */
export type Effect =
  | { readonly kind: "none" }
  | { readonly kind: "read"; readonly paths: readonly string[] }
  | { readonly kind: "edit"; readonly paths: readonly string[] }
  /** Changes what later sessions know: the memory, or a skill of the home. `text`: what is new. */
  | {
      readonly kind: "memory" | "skill";
      readonly text?: string | undefined;
      /** The output of a tool says it, and the user does not. Default false. */
      readonly isFromTools?: boolean;
    }
  /** Plans work that runs later without the user, or changes such plans. `reasons`: for the question, in full. */
  | { readonly kind: "job"; readonly reasons: readonly string[] }
  /** Reads from the internet. `sent`: URLs or a query, which leave the machine. `places`: hosts, for grants. */
  | {
      readonly kind: "fetch";
      readonly sent: readonly string[];
      readonly places: readonly string[];
      /** The user, the workspace or an earlier result named every address, or the text goes to the user's own service. */
      readonly isNamed?: boolean;
      /** A script made the address, and may have read any file of the workspace. Default false. */
      readonly isFromCode?: boolean;
    }
  /** Works with the browser's page. `site`: host and port of the page. `sent`: an address or typed text. */
  | {
      readonly kind: "browse";
      readonly action: "open" | "act" | "read";
      readonly site: string;
      /** The site is a server of this machine. */
      readonly isLocal: boolean;
      readonly sent: readonly string[];
      /** A script made the address or the text. Default false. */
      readonly isFromCode?: boolean;
      readonly isNamed?: boolean;
    }
  /** A tool of an MCP server or a plugin: its effects are known only from hints. */
  | {
      readonly kind: "foreign";
      /** Identity of the server or plugin, for grants. It must change with the program behind the name. */
      readonly origin: string;
      /** Name of the origin for display: `the MCP server github`. */
      readonly originName: string;
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
 * only; `auto`: in the sandbox nothing asks but protected paths, and whatever leaves it asks as in `code`.
 */
export type ApprovalMode = "ask" | "code" | "plan" | "auto";

/** Text and hosts that a session has sent or contacted unasked. */
export type Sent = { chars: number; readonly hosts: Set<string> };

export type PolicyContext = {
  readonly mode: ApprovalMode;
  readonly scope: CommandScope;
  readonly trusted: boolean;
  readonly grants: GrantLookup;
  /** False: effects that would ask are allowed (`approvals.mode: off`); blocked ones stay blocked. Default true. */
  readonly asks?: boolean;
  /** Files of the workspace that the agent wrote. `decide` adds those of the effects that it lets through or asks about. */
  readonly written?: Set<string>;
  /** `decide` adds to it. Default: it is not counted. */
  readonly sent?: Sent;
  /** Ports of this machine on which processes of the session listen. Default: none. */
  readonly ownPorts?: ReadonlySet<number> | undefined;
  /** Values of the user's secrets. Default: none. */
  readonly secrets?: readonly string[];
  /** Commands can run in a sandbox, which confines their effects. Default false. */
  readonly sandbox?: boolean;
};

/**
 * `sandbox`: the command runs only in this one. `writable`: guarded files (absolute) that git may change in it, on the
 * user's answer. `judged`: changes with what the decision rests on, such as the text of a script.
 */
export type Decision = {
  readonly sandbox?: SandboxKind;
  readonly writable?: readonly string[];
  readonly judged?: string;
} & (
  | {
      readonly kind: "allow";
      readonly granted?: true;
    }
  /** `text` is for the model: the reason, and what to do instead. */
  | { readonly kind: "deny"; readonly text: string }
  /** `grant`: the offer that a lasting answer accepts; undefined when no answer may last. */
  | {
      readonly kind: "ask";
      readonly reasons: readonly string[];
      /** Only the user may allow this: no model and no hook. */
      readonly isProtected?: true;
      readonly grant: GrantOffer | undefined;
    }
);

export const ALLOW: Decision = { kind: "allow" };
const GRANTED: Decision = { kind: "allow", granted: true };

export function askUnlessGranted(
  reasons: readonly string[],
  grant: GrantOffer | undefined,
  { grants }: PolicyContext,
): Decision {
  return grant !== undefined && grants.covers(grant) ? GRANTED : { kind: "ask", reasons, grant };
}

export function asProtected(decision: Decision): Decision {
  return decision.kind === "ask" ? { ...decision, isProtected: true } : decision;
}

/** `text` is for the model. */
export function deny(text: string): Decision {
  return { kind: "deny", text };
}

/** The refusal of an untrusted workspace, or of plan mode; undefined without one. Clauses for the model. */
export function refusal({ mode, trusted }: PolicyContext, untrusted: string, plan?: string): Decision | undefined {
  if (!trusted) return deny(`The user has not trusted this workspace, so ${untrusted}`);
  return mode === "plan" && plan !== undefined ? deny(`Plan mode is read-only: ${plan}`) : undefined;
}
