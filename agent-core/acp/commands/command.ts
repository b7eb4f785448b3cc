/** What a slash command is: one file in commands/ that exports `command`; the table is generated. */
import type { AIAgent } from "../../agent/ai-agent.ts";
import type { ApprovalMode } from "../../approval/policy.ts";
import type { SessionModel } from "../session-model.ts";
import type { SessionRestores } from "../session-restores.ts";

/** What a command may see and change. */
export type CommandSession = {
  readonly mode: ApprovalMode;
  readonly agent: Pick<AIAgent, "toolNames" | "grants"> & { readonly model: { readonly model: string } };
  readonly model: Pick<SessionModel, "current" | "all" | "choose">;
  /** The way back to earlier messages. */
  readonly restores: SessionRestores;
  /** Working folder, absolute. */
  readonly cwd: string;
  /** Ends the command. */
  readonly signal: AbortSignal;
  setMode(mode: ApprovalMode): void;
};

export type Command = {
  /** Without the slash. */
  readonly name: string;
  readonly description: string;
  /** What may follow the name; undefined when nothing may. */
  readonly hint?: string;
  /** Gives the answer in Markdown. */
  run(argument: string, session: CommandSession, commands: readonly Command[]): string | Promise<string>;
};
