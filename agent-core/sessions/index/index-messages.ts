/** The protocol between the index's thread and the agent: named questions, answers and messages. */
import type { Database } from "sql.js";
import type { HermesBuilding } from "../../protocol/sessions.ts";
import type { ImportOptions, ImportReport } from "../import/import-sessions.ts";
import { outcomeSums } from "./outcome-sums.ts";
import {
  findSession,
  listSessions,
  messagesBetween,
  relatedTitles,
  sessionTitles,
  titledSessions,
  usageSince,
} from "./queries.ts";
import { findSessions, searchMessages } from "./search-messages.ts";

export const questions = {
  list: listSessions,
  find: findSession,
  messages: messagesBetween,
  search: searchMessages,
  titled: titledSessions,
  titles: sessionTitles,
  related: relatedTitles,
  found: findSessions,
  usageSince,
  outcomes: outcomeSums,
} as const;

type Questions = typeof questions;

export type QuestionName = keyof Questions;

/** Arguments after the database. */
export type QuestionArguments<Name extends QuestionName> =
  Parameters<Questions[Name]> extends [Database, ...infer Rest] ? Rest : never;

/** Counts of indexed journals and of all journals to index. */
export type Building = HermesBuilding;

export type Answer<Name extends QuestionName> = {
  readonly value: ReturnType<Questions[Name]>;
  /** Set while the index is being built: the answer covers only the indexed part. */
  readonly building: Building | undefined;
};

/** Start data of the thread: absolute paths of the journals' folder and of the snapshot. */
export type IndexPlace = { readonly journals: string; readonly file: string };

export type ToIndex =
  | { readonly type: "ask"; readonly id: number; readonly name: QuestionName; readonly args: readonly unknown[] }
  /** Imports sessions from the `state.db` at `from`, since SQLite is loaded in this thread. */
  | ({ readonly type: "import"; readonly id: number } & Pick<ImportOptions, "from">)
  | { readonly type: "cancel"; readonly id: number }
  /** Saves the index and ends the thread. */
  | { readonly type: "close" };

export type FromIndex =
  /** To a question, and at the end of an import. */
  | { readonly type: "answer"; readonly id: number; readonly answer: Answer<QuestionName> | ImportReport }
  | { readonly type: "importing"; readonly id: number; readonly done: number; readonly total: number }
  | { readonly type: "failure"; readonly id: number; readonly message: string }
  | { readonly type: "building"; readonly building: Building }
  | { readonly type: "log"; readonly line: string };
