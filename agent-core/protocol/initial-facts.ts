import type { HistoryPage, WorkspaceFacts } from "./panel-events.ts";

/** Facts before the host knows any. Apart from the schemas, which the panel would load with it. */
export const INITIAL_FACTS: WorkspaceFacts = {
  agent: { state: "starting" },
  isTrusted: true,
  review: [],
  undone: 0,
  background: [],
  processes: [],
  extensions: [],
  suggested: [],
  isSuggesting: true,
  setup: null,
  folder: "open",
  start: null,
  learnt: null,
};

/** The list of sessions before its first page is there. */
export const INITIAL_HISTORY: HistoryPage = {
  query: "",
  everywhere: false,
  isArchive: false,
  sessions: [],
  hasMore: false,
  isLoading: true,
};
