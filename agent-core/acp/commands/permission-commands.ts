/** /mode, /grants and /status: calls that need the user's approval, and the sandbox. */
import { sandboxText } from "../../host/terminals/terminals.ts";
import { UsageError } from "../../platform/errors.ts";
import { modeIds, modeOf } from "../config-options.ts";
import type { Command } from "./command.ts";

export const mode: Command = {
  name: "mode",
  description: "Show or set the approval mode",
  hint: "ask | code | plan | auto",
  run(argument, session) {
    if (argument === "") return `Mode: \`${session.mode}\`. Available: ${modeIds()}.`;
    const mode = modeOf(argument);
    if (mode === undefined) throw new UsageError(`There is no mode \`${argument}\`. Available: ${modeIds()}.`);
    session.setMode(mode);
    return `Mode: \`${mode}\`.`;
  },
};

/** Prompt of a turn that carries out the plan of the turns before it. */
const CARRY_OUT = "Carry out this plan.";

export const carryOut: Command = {
  name: "carry-out",
  description: "Leave plan mode and carry out the plan. With `ask` each edit asks first; a changed plan may follow",
  hint: "code | ask | auto",
  run(argument, session) {
    const [word = "", ...plan] = argument.split("\n");
    if (session.mode !== "plan")
      return `There is no plan to carry out: the mode is \`${session.mode}\`. Type \`/mode plan\` first.`;
    const mode = modeOf(word.trim() === "" ? "code" : word.trim());
    if (mode === undefined || mode === "plan") return "Type `/carry-out`, `/carry-out ask` or `/carry-out auto`.";
    session.setMode(mode);
    return { ask: plan.length === 0 ? CARRY_OUT : `${CARRY_OUT} I have changed it:\n\n${plan.join("\n")}` };
  },
};

export const status: Command = {
  name: "status",
  description: "Show the sandbox, the approval mode and the model",
  run(_argument, { agent, mode: current, cwd }) {
    const { host, models } = agent.setup;
    const { sandboxState: sandbox } = host.terminals;
    const { model, endpoint } = models.current;
    const advice = sandbox?.isOn === false ? ` To enable it, ${sandbox.advice}.` : "";
    const text = sandbox === undefined ? "off: no command runs on this machine" : sandboxText(sandbox);
    return [
      `- Sandbox ${text}.${advice}`,
      `- Mode: \`${current}\``,
      `- Model: \`${model}\` of ${endpoint.provider}`,
      `- Folder: \`${cwd}\``,
    ].join("\n");
  },
};

const CHANGE = /^(revoke|always)\s+(\d+|all)$/;
const SYNTAX =
  "`/grants add ROW` (such as `npm test * in ~/project`), `/grants always NUMBER` or `/grants revoke NUMBER`, with `all` for all";

export const grants: Command = {
  name: "grants",
  description: "List what runs without a question, and change the list",
  hint: "add ROW | revoke NUMBER | always NUMBER",
  async run(argument, { agent }) {
    const row = /^add\s+(.+)$/s.exec(argument)?.[1]?.trim();
    if (row !== undefined) {
      await agent.setup.grants.keep([{ row }], "always");
      return `Hermes no longer asks for: \`${row}\`.`;
    }
    const grants = await agent.setup.grants.list();
    const [, change, which = ""] = CHANGE.exec(argument) ?? [];
    if (argument !== "" && change === undefined) return `Type ${SYNTAX}.`;
    if (grants.length === 0) return "There are no lasting permissions: Hermes asks each time it needs your approval.";
    if (change === undefined) {
      const lines = grants.map(({ row, lasting }, index) => `${index + 1}. \`${row}\` (${LASTING[lasting]})`);
      return ["Allowed without asking:", "", ...lines, "", `To change them, type ${SYNTAX}.`].join("\n");
    }
    const meant = which === "all" ? grants : grants.slice(Number(which) - 1, Number(which));
    if (meant.length === 0) return `There is no grant ${which}; the list has ${grants.length}.`;
    const named = meant.map(({ row }) => `\`${row}\``).join("; ");
    if (change === "always") {
      await agent.setup.grants.keep(meant, change);
      return `Hermes no longer asks for: ${named}.`;
    }
    for (const { row } of meant) await agent.setup.grants.revoke(row);
    return `Revoked. Hermes asks again for: ${named}.`;
  },
};

const LASTING = { session: "this session", always: "always" } as const;
