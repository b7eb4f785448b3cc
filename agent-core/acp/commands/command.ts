/** Shape of a slash command, and its access to the session. */
import type { SessionUpdate } from "@zed-industries/agent-client-protocol";
import type { AIAgent } from "../../agent/ai-agent.ts";
import type { CommandAnswer, ExtensionCommand } from "../../agent/extensions.ts";
import type { ApprovalMode } from "../../approval/decision.ts";
import type { Config } from "../../config/sections.ts";
import type { HermesImport, HermesImported } from "../../protocol/sessions.ts";
import type { SessionIndex } from "../../sessions/index/session-index.ts";
import type { StoredSession } from "../../sessions/read-journal.ts";
import type { Background } from "../background-learning.ts";
import type { Goal } from "../goal.ts";
import type { PlannedJobs } from "../planned-jobs.ts";
import type { RestorePoints } from "../restore-points.ts";
import type { SessionModel } from "../session-model.ts";

/** The part of a session that a command may read and change. */
export type CommandSession = {
  readonly mode: ApprovalMode;
  readonly id: string;
  readonly agent: AIAgent;
  readonly model: Pick<SessionModel, "current" | "all" | "choose">;
  readonly restores: RestorePoints;
  readonly goal: Pick<Goal, "answer">;
  /** Working folder, absolute. */
  readonly cwd: string;
  /** Set-up of new work trees. */
  readonly worktrees: Config["worktrees"];
  /** The stored sessions of the home. `import` rejects with an Error in one line. */
  readonly sessions: {
    readonly index: SessionIndex;
    import(request: HermesImport, signal: AbortSignal): Promise<HermesImported>;
    /** True while a session other than `own` runs a turn in the folder. */
    isBusyIn(folder: string, own?: string): Promise<boolean>;
  };
  /** Rejects with an error of the protocol. */
  readonly readStored: (id: string) => Promise<StoredSession>;
  /** Undefined in the session of a planned job. */
  readonly jobs: Pick<PlannedJobs, "state" | "act"> | undefined;
  /** Loops that learn, and their reports. */
  readonly learning: Pick<Background, "state" | "act" | "setSwitch" | "runNow" | "reports">;
  readonly send: (update: SessionUpdate) => void;
  /** Cancels the command. */
  readonly signal: AbortSignal;
  setMode(mode: ApprovalMode): void;
};

export type Command = Omit<ExtensionCommand, "run"> & {
  /** Throws a UsageError for a wrong argument. */
  run(argument: string, session: CommandSession): CommandAnswer | Promise<CommandAnswer>;
};
