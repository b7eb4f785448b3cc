/** What a slash command is: one file in commands/ that exports `command`; the table is generated. */
import type { SessionUpdate } from "@zed-industries/agent-client-protocol";
import type { AIAgent, RunOptions } from "../../agent/ai-agent.ts";
import type { ApprovalMode } from "../../approval/policy.ts";
import type { HermesImport, HermesImported } from "../../protocol/sessions.ts";
import type { SessionIndex } from "../../sessions/index/session-index.ts";
import type { StoredSession } from "../../sessions/read-journal.ts";
import type { SessionModel } from "../session-model.ts";
import type { SessionRestores } from "../session-restores.ts";

/** What a command may see and change. */
export type CommandSession = {
  readonly mode: ApprovalMode;
  readonly id: string;
  readonly agent: AIAgent;
  readonly model: Pick<SessionModel, "current" | "all" | "choose">;
  /** The way back to earlier messages. */
  readonly restores: SessionRestores;
  /** Working folder, absolute. */
  readonly cwd: string;
  /** Every stored session. */
  readonly index: SessionIndex;
  /** What is stored of a session; rejects with an error of the protocol. */
  readonly readStored: (id: string) => Promise<StoredSession>;
  /** Brings sessions over; rejects with an Error in one line. */
  readonly importSessions: (request: HermesImport, signal: AbortSignal) => Promise<HermesImported>;
  /** Shows something of what a command brings. */
  readonly send: (update: SessionUpdate) => void;
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
  /** Gives the answer in Markdown, or what is to be asked of the model now. */
  run(argument: string, session: CommandSession, commands: readonly Command[]): CommandAnswer | Promise<CommandAnswer>;
};

export type CommandAnswer = string | { readonly ask: RunOptions["userMessage"] };
