/** The parts of the extension that handle the agent's requests. */
import type { SessionNotification } from "@zed-industries/agent-client-protocol";
import type { CronFinished } from "../../agent-core/protocol/cron.ts";
import type { HermesExtensionsChanged } from "../../agent-core/protocol/extensions.ts";
import type { HermesProcessesChanged } from "../../agent-core/protocol/processes.ts";
import type { HermesBuilding } from "../../agent-core/protocol/sessions.ts";
import type { ReviewedWrite } from "../documents/edit-protocol.ts";
import type { GuardedEdit, WrittenFile } from "../documents/guarded-edit.ts";
import type { EditProblems } from "../problems/edit-problems.ts";
import type { SkillProblems } from "../problems/skill-problems.ts";
import type { Requests } from "../requests/requests.ts";
import type { AgentTerminals } from "../terminals/agent-terminals.ts";

/** Writer of the agent's changes: reviewed, and one after the other for each file. */
export type EditReview = {
  /**
   * Writes an edit: where the user decides first, what they accept of it, otherwise all, which is then up for review.
   * `writing` is called right before the file changes. Rejects with ConflictError when the file holds another text than
   * expected, with the signal's reason when it is aborted.
   */
  write(edit: GuardedEdit, signal: AbortSignal, writing: () => void): Promise<ReviewedWrite>;
  /** Gives a file an earlier text (`after` null removes it), with the review that it had then. Rejects as `write`. */
  revert(edit: GuardedEdit): Promise<WrittenFile>;
  /** Moves a file that holds `expected`, with its review. Rejects as `write`, and as `move`. */
  move(file: FileMove, move: () => Promise<void>): Promise<void>;
};

/** Paths are absolute. */
export type FileMove = { readonly from: string; readonly to: string; readonly expected: string };

export type ClientServices = {
  readonly terminals: AgentTerminals;
  readonly requests: Requests;
  readonly sessionUpdate: (notification: SessionNotification) => void;
  /** Views with lists of sessions. `done` equals `total` at the end of the index or the import. */
  readonly sessionLists: {
    building(building: HermesBuilding): void;
    importing(progress: HermesBuilding): void;
    changed(): void;
  };
  /** Announces the end of a planned job. */
  readonly jobFinished: (finished: CronFinished) => void;
  /** Facts of sessions, for the panels. */
  readonly panels: {
    setProcesses(changed: HermesProcessesChanged): void;
    setExtensions(changed: HermesExtensionsChanged): void;
  };
  /** Changes of what was learnt, and of planned jobs. */
  readonly learning: {
    changed(change: { readonly message?: string; readonly items: readonly string[] }): void;
  };
  readonly editReview: EditReview;
  readonly problems: EditProblems;
  readonly skillProblems: Pick<SkillProblems, "show">;
};
