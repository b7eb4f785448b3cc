/** What an ACP client method of ours is: one file in this folder that exports `clientMethod`. */
import type { ClientApp, SessionNotification } from "@zed-industries/agent-client-protocol";
import type { KeyedQueue } from "../../agent-core/platform/keyed-queue.ts";
import type { HermesProcessesChanged } from "../../agent-core/protocol/processes.ts";
import type { HermesBuilding } from "../../agent-core/protocol/sessions.ts";
import type { EditProblems } from "../problems/edit-problems.ts";
import type { Requests } from "../requests/requests.ts";
import type { AgentTerminals } from "../terminals/agent-terminals.ts";

/** An edit of the agent. Paths are absolute; `before` is null for a new file, `after` for one that goes. */
export type AgentEdit = { readonly path: string; readonly before: string | null; readonly after: string | null };

/** What may be written of an edit. */
export type Verdict =
  /** All of it; it is reviewed when it has landed. */
  | { readonly kind: "after" }
  /** What the user accepted: `before` is the file by now, `after` what shall be in it (the same: nothing is written). */
  | {
      readonly kind: "decided";
      readonly before: string | null;
      readonly after: string | null;
      /** Hunks. */
      readonly kept: number;
      readonly undone: number;
    };

/** Who reviews the agent's edits. */
export type EditReview = {
  /** Waits for the user where they decide first. */
  verdict(edit: AgentEdit, signal: AbortSignal): Promise<Verdict>;
  /** Runs the write of an edit and puts what it changes up for review. Rejects as `write` does. */
  landing(edit: AgentEdit, write: () => Promise<void>): Promise<void>;
  /** Runs a move and takes what is up for review along. Rejects as `move` does. */
  moving(from: string, to: string, move: () => Promise<void>): Promise<void>;
  /** Runs a write that gives a file an earlier text (null: takes it away), with the review that it had then. */
  puttingBack(path: string, after: string | null, write: () => Promise<void>): Promise<void>;
};

export type ClientServices = {
  readonly terminals: AgentTerminals;
  readonly requests: Requests;
  /** Who shows the session. */
  readonly sessionUpdate: (notification: SessionNotification) => void;
  /** Lists of sessions: how far their index or an import is (`done` is `total` at its end), and when they have changed. */
  readonly sessionLists: {
    building(building: HermesBuilding): void;
    importing(progress: HermesBuilding): void;
    changed(): void;
  };
  /** Who shows what runs in the background of a session. */
  readonly processesChanged: (changed: HermesProcessesChanged) => void;
  readonly editReview: EditReview;
  /** Changes of one file wait for each other. */
  readonly fileQueue: KeyedQueue;
  readonly problems: EditProblems;
};

export type ClientMethod = { register(app: ClientApp, services: ClientServices): void };
