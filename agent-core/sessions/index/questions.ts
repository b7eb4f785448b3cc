/** What the index can be asked by name: its thread has the database, who asks has not. */
import type { Database } from "sql.js";
import { findSession, listSessions, messagesBetween, relatedTitles, titledSessions, usageSince } from "./queries.ts";
import { findSessions, searchMessages } from "./search-messages.ts";

export const questions = {
  list: listSessions,
  find: findSession,
  messages: messagesBetween,
  search: searchMessages,
  titled: titledSessions,
  related: relatedTitles,
  found: findSessions,
  usageSince,
} as const;

type Questions = typeof questions;

export type QuestionName = keyof Questions;

/** What follows the database. */
export type QuestionArguments<Name extends QuestionName> =
  Parameters<Questions[Name]> extends [Database, ...infer Rest] ? Rest : never;

/** Journals that are read, and how many there are to read. */
export type Building = { readonly done: number; readonly total: number };

export type Answer<Name extends QuestionName> = {
  readonly value: ReturnType<Questions[Name]>;
  /** The index is being built: the answer tells of what is read so far. */
  readonly building: Building | undefined;
};
