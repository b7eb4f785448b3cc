/** The approval policy of one session: the rules of approval/, bound to its workspace, mode and grants. */
import type { Grants } from "../approval/grants.ts";
import { type ApprovalMode, decide } from "../approval/policy.ts";
import { resolvePath } from "../approval/resolve-path.ts";
import type { Policy } from "./approvals.ts";

export type PolicyOptions = {
  readonly cwd: string;
  /** Workspace folders, absolute. */
  readonly roots: readonly string[];
  /** The user's home folder. */
  readonly home: string;
  readonly hermesHome: string;
  /** Read at each decision. */
  readonly mode: () => ApprovalMode;
  /** Read at each decision. */
  readonly trusted: () => boolean;
  readonly grants: Grants;
  /** False: what would ask is allowed (`approvals.mode: off`); what is blocked stays so. */
  readonly asks: boolean;
  /** Commands can be run in a sandbox. Default false. */
  readonly sandbox?: boolean;
};

export function sessionPolicy({ mode, trusted, grants, asks, sandbox = false, ...where }: PolicyOptions): Policy {
  const scope = { ...where, resolvePath };
  return {
    decide(effect) {
      const decision = decide(effect, { mode: mode(), scope, trusted: trusted(), grants, asks, sandbox });
      if (decision.kind !== "ask") return decision;
      const { grant, reasons } = decision;
      return {
        kind: "ask",
        reasons,
        grant: grant && { description: grant.description, keep: (lasting) => grants.keep(grant, lasting) },
      };
    },
  };
}
