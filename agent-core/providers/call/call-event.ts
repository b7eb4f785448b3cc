/** What a persistent call tells while it goes on: the model's events, and what is done about faults. */
import type { ModelEvent } from "../wire/wire.ts";

export type CallEvent =
  | ModelEvent
  /** What came of this answer so far is void; another one begins. */
  | { readonly type: "restart" }
  /** For people. `waitMs`: nothing happens for so long. */
  | {
      readonly type: "notice";
      readonly severity: "info" | "warning";
      readonly message: string;
      readonly waitMs?: number;
    };
