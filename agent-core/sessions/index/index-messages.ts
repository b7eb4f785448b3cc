/** What the index's thread and its owner say to each other. */
import type { ImportOptions, ImportReport } from "../import/import-sessions.ts";
import type { Answer, Building, QuestionName } from "./questions.ts";

/** What the thread is started with: absolute paths of the journals' folder and of the snapshot. */
export type IndexPlace = { readonly journals: string; readonly file: string };

export type ToIndex =
  | { readonly type: "ask"; readonly id: number; readonly name: QuestionName; readonly args: readonly unknown[] }
  /** Brings sessions over from the `state.db` at `from`; SQLite is at hand here. */
  | ({ readonly type: "import"; readonly id: number } & Pick<ImportOptions, "from" | "open" | "again">)
  | { readonly type: "cancel"; readonly id: number }
  /** Saves and ends. */
  | { readonly type: "close" };

export type FromIndex =
  | { readonly type: "answer"; readonly id: number; readonly answer: Answer<QuestionName> }
  | { readonly type: "importing"; readonly id: number; readonly done: number; readonly total: number }
  | { readonly type: "imported"; readonly id: number; readonly report: ImportReport }
  | { readonly type: "failure"; readonly id: number; readonly message: string }
  | { readonly type: "building"; readonly building: Building }
  | { readonly type: "log"; readonly line: string };
