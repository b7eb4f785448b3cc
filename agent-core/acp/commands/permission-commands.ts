/** /mode and /grants: calls that need the user's approval. */
import { modeIds, modeOf } from "../config-options.ts";
import type { Command } from "./command.ts";

export const mode: Command = {
  name: "mode",
  description: "Show or set the approval mode",
  hint: "ask | code | plan | auto",
  run(argument, session) {
    if (argument === "") return `Mode: \`${session.mode}\`. Available: ${modeIds()}.`;
    const mode = modeOf(argument);
    if (mode === undefined) return `There is no mode \`${argument}\`. Available: ${modeIds()}.`;
    session.setMode(mode);
    return `Mode: \`${mode}\`.`;
  },
};

const REVOKE = /^revoke\s+(\d+|all)$/;

export const grants: Command = {
  name: "grants",
  description: "List or revoke lasting permissions",
  hint: "revoke NUMBER | revoke all",
  run(argument, { agent }) {
    const grants = agent.grants.list();
    const which = REVOKE.exec(argument)?.[1];
    if (argument !== "" && which === undefined)
      return "Type `/grants`, `/grants revoke NUMBER` or `/grants revoke all`.";
    if (grants.length === 0) return "There are no lasting permissions: Hermes asks each time it needs your approval.";
    if (which === undefined) {
      const lines = grants.map(
        ({ description, lasting }, index) => `${index + 1}. ${description} (${LASTING[lasting]})`,
      );
      return ["Allowed without asking:", "", ...lines, "", "`/grants revoke NUMBER` revokes one."].join("\n");
    }
    const meant = which === "all" ? grants : grants.slice(Number(which) - 1, Number(which));
    if (meant.length === 0) return `There is no grant ${which}; the list has ${grants.length}.`;
    for (const { id } of meant) agent.grants.revoke(id);
    return `Revoked. Hermes asks again for: ${meant.map(({ description }) => description).join("; ")}.`;
  },
};

const LASTING = { session: "this session", always: "always" } as const;
