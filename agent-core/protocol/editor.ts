/**
 * Knowledge of the client's language services (where `semanticTools` is declared), and the problems that they find
 * after an edit (where `problems` is declared). Paths are absolute.
 */
import * as z from "zod";
import { nothing } from "./method.ts";

/** 1-based. */
const line = z.number().int().min(1);

/** A name in a file. Without a line the client takes the name's declaration, or its first use. */
export const HermesSymbolPlace = z.object({ path: z.string(), symbol: z.string(), line: line.exactOptional() });
export type HermesSymbolPlace = z.infer<typeof HermesSymbolPlace>;

/** `text`: the line itself, without its indentation. */
export const HermesCodePlace = z.object({ path: z.string(), line, text: z.string() });
export type HermesCodePlace = z.infer<typeof HermesCodePlace>;

/** `kind` in lower case: `class`, `function`. `container`: the symbol around it, empty at the top. */
export const HermesSymbol = z.object({
  name: z.string(),
  kind: z.string(),
  path: z.string(),
  line,
  container: z.string(),
});
export type HermesSymbol = z.infer<typeof HermesSymbol>;

/** Whole text of a file before and after an edit that the client works out and does not apply. Line breaks are `\n`. */
export const HermesPlannedEdit = z.object({ path: z.string(), before: z.string(), after: z.string() });
export type HermesPlannedEdit = z.infer<typeof HermesPlannedEdit>;

const planned = z.object({ edits: z.array(HermesPlannedEdit).readonly() });

/** `fixes`: titles of the quick fixes; only where one file was asked for. */
export const HermesDiagnostic = z.object({
  path: z.string(),
  line,
  severity: z.enum(["error", "warning", "info"]),
  message: z.string(),
  fixes: z.array(z.string()).readonly(),
});
export type HermesDiagnostic = z.infer<typeof HermesDiagnostic>;

/** `active`: the editor in front, with the selected lines and their text; the text is empty without a selection. */
export const HermesEditorState = z.object({
  active: z.object({ path: z.string(), first: line, last: line, selected: z.string() }).nullable(),
  open: z.array(z.object({ path: z.string(), isUnsaved: z.boolean() })).readonly(),
});
export type HermesEditorState = z.infer<typeof HermesEditorState>;

export const HermesTaskOfEditor = z.object({
  name: z.string(),
  /** `build`, `test`, or empty. */
  group: z.string(),
  /** Shell command; null for a task that only the client can run. */
  command: z.string().nullable(),
  /** Absolute. */
  folder: z.string(),
  /** The task does not end by itself. */
  isBackground: z.boolean(),
});
export type HermesTaskOfEditor = z.infer<typeof HermesTaskOfEditor>;

const actionsAt = z.object({ path: z.string(), line });

/** Agent → client. A refusal is an error whose message is one sentence for the model. */
export const editorMethods = {
  /** Symbols of a file, or those of the workspace whose name matches `query`. */
  symbols: {
    name: "_hermes/editor/symbols",
    params: z.object({ path: z.string().exactOptional(), query: z.string() }),
    result: z.object({ symbols: z.array(HermesSymbol).readonly() }),
  },
  places: {
    name: "_hermes/editor/places",
    params: HermesSymbolPlace.extend({ relation: z.enum(["definitions", "references", "implementations"]) }),
    result: z.object({ places: z.array(HermesCodePlace).readonly() }),
  },
  /** Type and documentation, as Markdown. */
  hover: { name: "_hermes/editor/hover", params: HermesSymbolPlace, result: z.object({ text: z.string() }) },
  rename: {
    name: "_hermes/editor/rename",
    params: HermesSymbolPlace.extend({ newName: z.string() }),
    result: planned,
  },
  /** Code actions of a line that are plain edits of text. */
  actions: {
    name: "_hermes/editor/actions",
    params: actionsAt,
    result: z.object({ titles: z.array(z.string()).readonly() }),
  },
  action: { name: "_hermes/editor/action", params: actionsAt.extend({ title: z.string() }), result: planned },
  diagnostics: {
    name: "_hermes/editor/diagnostics",
    params: z.object({ path: z.string().exactOptional() }),
    result: z.object({ diagnostics: z.array(HermesDiagnostic).readonly() }),
  },
  state: { name: "_hermes/editor/state", params: z.object({}), result: HermesEditorState },
  tasks: {
    name: "_hermes/editor/tasks",
    params: z.object({}),
    result: z.object({ tasks: z.array(HermesTaskOfEditor).readonly() }),
  },
};

export const HermesProblem = z.object({
  /** 1-based. */
  line: z.number().int().min(1),
  /** 1-based, in UTF-16 units. */
  column: z.number().int().min(1),
  severity: z.enum(["error", "warning"]),
  message: z.string(),
  /** Tool that found the problem: `ts`, `eslint`. */
  source: z.string().exactOptional(),
  code: z.string().exactOptional(),
});
export type HermesProblem = z.infer<typeof HermesProblem>;

/** Lines of `before` count in the old text, lines of `after` in the new one. `path` is absolute. */
export const HermesFileProblems = z.object({
  path: z.string(),
  before: z.array(HermesProblem).readonly(),
  after: z.array(HermesProblem).readonly(),
});
export type HermesFileProblems = z.infer<typeof HermesFileProblems>;

/** `watchId` is chosen by the agent. */
export const HermesProblemsWatch = z.object({ sessionId: z.string(), watchId: z.string() });

/** `paths`: the edited files, absolute. */
export const HermesProblemsRequest = HermesProblemsWatch.extend({ paths: z.array(z.string()).readonly() });

/** The edited files, and others whose problems have changed since the edit. */
export const HermesProblemsFound = z.object({ files: z.array(HermesFileProblems).readonly() });

/** A new problem after an edit. `path` is absolute, `line` 1-based; `text` is the whole problem in one line. */
export const HermesNewProblem = z.object({
  path: z.string(),
  line: z.number(),
  severity: z.enum(["error", "warning"]),
  text: z.string(),
});
export type HermesNewProblem = z.infer<typeof HermesNewProblem>;

/** Requests of the agent around an edit. */
export const problemMethods = {
  /** Before the edit. */
  watch: { name: "_hermes/editor/problems/watch", params: HermesProblemsWatch, result: nothing },
  /** After the edit: ends the watch and waits until the problems have settled. */
  settled: { name: "_hermes/editor/problems/settled", params: HermesProblemsRequest, result: HermesProblemsFound },
};
