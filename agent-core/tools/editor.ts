/** Tools for the editor's knowledge of the code: its language services, its tabs and its tasks. */
import * as z from "zod";
import { messageOf } from "../platform/errors.ts";
import { truncate } from "../platform/one-line.ts";
import { editorMethods, type HermesPlannedEdit, type HermesTaskOfEditor } from "../protocol/editor.ts";
import type { RequestMethod } from "../protocol/method.ts";
import type { FileChange } from "./patch/v4a/plan-changes.ts";
import { absolutePath, shortTitle, shownPath } from "./shown-path.ts";
import {
  defineTool,
  refusal,
  type StagedCall,
  type Tool,
  type ToolContext,
  type ToolDefinition,
  type ToolLocation,
  type ToolResult,
} from "./tool.ts";

/** Lines of one result: a common name has thousands of references. */
const MAX_LINES = 100;
const MAX_LINE_CHARS = 200;
/** Documentation of a whole module can be long. */
const MAX_HOVER_CHARS = 4_000;

const path = z.string().min(1);
const line = z.int().min(1).optional();
const symbolPlace = { path, symbol: z.string().min(1), line };

/** A tool that only reads. */
function reader<Schema extends z.ZodType<{ readonly path?: string | undefined }>>(
  definition: Omit<
    ToolDefinition<Schema>,
    "toolset" | "readOnly" | "kind" | "effect" | "locations" | "run" | "stage"
  > & {
    run(input: z.infer<Schema>, context: ToolContext): Promise<ToolResult>;
  },
): Tool {
  const { run, ...rest } = definition;
  return defineTool<Schema>({
    ...rest,
    toolset: "editor",
    readOnly: true,
    kind: "search",
    need: "rare",
    locations: (input, cwd) => (input.path === undefined ? [] : [{ path: absolutePath(input.path, cwd) }]),
    effect: (input, cwd) => ({ kind: "read", paths: input.path === undefined ? [] : [absolutePath(input.path, cwd)] }),
    run: (input, context) => refusable(definition.name, context, () => run(input, context)),
  });
}

export const tools: readonly Tool[] = [
  reader({
    name: "editor_symbols",
    description: "Symbols of a file, or those of the workspace by name.",
    input: z.object({ path: path.optional(), query: z.string().default("").describe("Part of the name") }),
    title: ({ path: file, query }) => shortTitle(`Symbols ${[query, file].filter(Boolean).join(" in ")}`),
    async run({ path: file, query }, context) {
      if (file === undefined && query === "") return refusal("editor_symbols", "give a path or a query.");
      const { symbols } = await ask(context, editorMethods.symbols, { ...inFile(file, context), query });
      const rows = symbols.map(({ name, kind, path: at, line: start, container }) => {
        const owner = container === "" ? "" : ` in ${container}`;
        return `${shownPlace(at, context)}:${start}: ${kind} ${name}${owner}`;
      });
      return listed(rows, "No symbols found.");
    },
  }),
  reader({
    name: "editor_lookup",
    description: "Where a symbol is defined, used or implemented, or its type and documentation (hover).",
    input: z.object({ ...symbolPlace, what: z.enum(["definitions", "references", "implementations", "hover"]) }),
    title: ({ what, symbol }) => shortTitle(`${what[0]?.toUpperCase()}${what.slice(1)} of ${symbol}`),
    async run({ what, ...named }, context) {
      const place = placeOf(named, context);
      if (what === "hover") {
        const { text } = await ask(context, editorMethods.hover, place);
        return { ok: true, text: text === "" ? "Nothing is known about it." : text.slice(0, MAX_HOVER_CHARS) };
      }
      const { places } = await ask(context, editorMethods.places, { ...place, relation: what });
      const rows = places.map(({ path: at, line: start, text }) => {
        const shown = context.isSecret(at) ? "" : ` ${truncate(text, MAX_LINE_CHARS)}`;
        return `${shownPlace(at, context)}:${start}:${shown}`;
      });
      return listed(rows, `No ${what} found.`);
    },
  }),
  reader({
    name: "editor_problems",
    description: "Errors and warnings, of a file with the titles of their quick fixes, or of all files.",
    input: z.object({ path: path.optional() }),
    title: ({ path: file }) => shortTitle(file === undefined ? "Problems" : `Problems in ${file}`),
    async run({ path: file }, context) {
      const { diagnostics } = await ask(context, editorMethods.diagnostics, inFile(file, context));
      const rows = diagnostics.flatMap(({ path: at, line: start, severity, message, fixes }) => [
        `${shownPlace(at, context)}:${start}: ${severity}: ${truncate(message.replaceAll(/\s+/g, " "), MAX_LINE_CHARS)}`,
        ...fixes.map((title) => `  fix: ${title}`),
      ]);
      return listed(rows, "No problems are known. Some languages check only files that are open in a tab.");
    },
  }),
  reader({
    name: "editor_state",
    description: "The file and selection in front of the user, and the open files.",
    input: z.object({}),
    title: () => "Open editors",
    async run(_input, context) {
      const { active, open } = await ask(context, editorMethods.state, {});
      const rows = open.map((file) => `${shownPath(file.path, context.cwd)}${file.isUnsaved ? " (unsaved)" : ""}`);
      if (active === null) return listed(rows, "No files are open.");
      const { path: at, first, last, selected } = active;
      const place = `${shownPlace(at, context)}:${first}${last > first ? `-${last}` : ""}`;
      const isShown = selected !== "" && !context.isSecret(at);
      const head = `In front: ${place}${isShown ? `, selected:\n${selected.slice(0, MAX_HOVER_CHARS)}` : ""}`;
      return listed([head, "Open:", ...rows], head);
    },
  }),
  defineTool({
    name: "editor_rename",
    toolset: "editor",
    kind: "edit",
    readOnly: false,
    need: "rare",
    description: "Rename a symbol in all files.",
    input: z.object({ ...symbolPlace, new_name: z.string().min(1) }),
    title: ({ symbol, new_name: name }) => shortTitle(`Rename ${symbol} to ${name}`),
    locations: place,
    effect: ({ path: file }, cwd) => ({ kind: "edit", paths: [absolutePath(file, cwd)] }),
    stage: ({ new_name: newName, ...named }, context) =>
      stagePlanned("editor_rename", context, () =>
        ask(context, editorMethods.rename, { ...placeOf(named, context), newName }),
      ),
  }),
  defineTool({
    name: "editor_action",
    toolset: "editor",
    kind: "edit",
    readOnly: false,
    need: "rare",
    description: "Quick fixes and refactorings of a line: without title their titles, with title make that edit.",
    input: z.object({ path, line: z.int().min(1), title: z.string().optional() }),
    title: ({ path: file, line: at, title }) => shortTitle(title ?? `Actions at ${file}:${at}`),
    locations: place,
    effect: ({ path: file, title }, cwd) => ({
      kind: title === undefined ? "read" : "edit",
      paths: [absolutePath(file, cwd)],
    }),
    stage: (input, context) => stageAction(input, context),
  }),
  defineTool({
    name: "editor_task",
    toolset: "editor",
    kind: "execute",
    readOnly: false,
    need: "rare",
    description:
      "Tasks of the workspace (build, test, scripts): without name a list, with name run that one in terminal.",
    input: z.object({ name: z.string().optional(), timeout: z.number().positive().optional().describe("Seconds") }),
    title: ({ name }) => shortTitle(name === undefined ? "Tasks" : `Task ${name}`),
    // A task runs as a call of the terminal, which the policy judges.
    effect: () => ({ kind: "none" }),
    run: (input, context) => refusable("editor_task", context, () => runTask(input, context)),
  }),
];

function place({ path: file, line: at }: { path: string; line?: number | undefined }, cwd: string): ToolLocation[] {
  return [{ path: absolutePath(file, cwd), ...(at !== undefined && { line: at }) }];
}

type NamedSymbol = { readonly path: string; readonly symbol: string; readonly line?: number | undefined };

function placeOf({ path: file, symbol, line: at }: NamedSymbol, { cwd }: ToolContext) {
  return { path: absolutePath(file, cwd), symbol, ...(at !== undefined && { line: at }) };
}

function inFile(file: string | undefined, { cwd }: ToolContext): { path?: string } {
  return file === undefined ? {} : { path: absolutePath(file, cwd) };
}

function ask<Params extends z.ZodType, Result extends z.ZodType>(
  { host, signal }: ToolContext,
  method: RequestMethod<Params, Result>,
  params: z.input<Params>,
): Promise<z.output<Result>> {
  if (host.editor === undefined) throw new Error("There is no editor here.");
  return host.editor(method, params, signal);
}

async function refusable<Outcome>(
  tool: string,
  { signal }: ToolContext,
  work: () => Promise<Outcome>,
): Promise<Outcome | { readonly ok: false; readonly text: string }> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    return refusal(tool, messageOf(error));
  }
}

function listed(rows: readonly string[], none: string): ToolResult {
  if (rows.length === 0) return { ok: true, text: none };
  const more = rows.length > MAX_LINES ? [`[… ${rows.length - MAX_LINES} more]`] : [];
  return { ok: true, text: [...rows.slice(0, MAX_LINES), ...more].join("\n") };
}

/** A document that is not on the disk has an address in place of a path. */
function shownPlace(at: string, { cwd }: ToolContext): string {
  return at.includes("://") ? at : shownPath(at, cwd);
}

async function stageAction(
  { path: file, line: at, title }: { path: string; line: number; title?: string | undefined },
  context: ToolContext,
): Promise<StagedCall> {
  const target = { path: absolutePath(file, context.cwd), line: at };
  if (title !== undefined) {
    return stagePlanned("editor_action", context, () => ask(context, editorMethods.action, { ...target, title }));
  }
  const run = async (): Promise<ToolResult> => {
    const { titles } = await ask(context, editorMethods.actions, target);
    return listed(titles, `No actions at line ${at}.`);
  };
  return { ok: true, diffs: [], run: () => refusable("editor_action", context, run) };
}

/** Stages the edits that the editor has worked out, as those of a patch. */
function stagePlanned(
  tool: string,
  context: ToolContext,
  plan: () => Promise<{ readonly edits: readonly HermesPlannedEdit[] }>,
): Promise<StagedCall> {
  return refusable(tool, context, async () => {
    const { edits } = await plan();
    if (edits.length === 0) return refusal(tool, "the editor has no change for this.");
    const changes = await Promise.all(edits.map((edit) => changeOf(edit, context)));
    const count = changes.length === 1 ? "1 file" : `${changes.length} files`;
    const { stageChanges } = await import("./patch/v4a/stage-patch.ts");
    return stageChanges({ tool, changes, notes: [`Changes in ${count}:`] }, context);
  });
}

/** Throws when the file no longer holds the text that the edit was worked out for. */
async function changeOf({ path: file, before, after }: HermesPlannedEdit, context: ToolContext): Promise<FileChange> {
  const { inBreaksOf } = await import("./patch/line-breaks.ts");
  const read = await context.host.files.readText(file, context.signal);
  if (!read.ok) throw new Error(read.message);
  if (read.text.replaceAll(/\r\n?/g, "\n") !== before) {
    throw new Error(`${shownPath(file, context.cwd)} has just changed; nothing was written. Call again.`);
  }
  return { path: file, oldText: read.text, newText: inBreaksOf(read.text, after) };
}

async function runTask(
  { name, timeout }: { readonly name?: string | undefined; readonly timeout?: number | undefined },
  context: ToolContext,
): Promise<ToolResult> {
  const { tasks } = await ask(context, editorMethods.tasks, {});
  if (name === undefined) {
    return listed(
      tasks.map((task) => taskRow(task, context.cwd)),
      "There are no tasks.",
    );
  }
  const task = tasks.find((one) => one.name === name) ?? tasks.find(({ group }) => group === name);
  if (task === undefined) return refusal("editor_task", `there is no task ${JSON.stringify(name)}. List them first.`);
  const { command, folder: workdir, isBackground: background } = task;
  if (command === null) return refusal("editor_task", `only the user can run ${task.name}: it has no plain command.`);
  if (context.callTool === undefined) return refusal("editor_task", "tasks run within a turn only.");
  const input = { command, workdir, background, ...(timeout !== undefined && { timeout }) };
  return context.callTool("terminal", input, context.signal);
}

function taskRow({ name, group, command, folder, isBackground }: HermesTaskOfEditor, cwd: string): string {
  const facts = [group, isBackground ? "background" : ""].filter((fact) => fact !== "");
  const where = folder === cwd ? "" : ` (in ${shownPath(folder, cwd)})`;
  return `${name}${facts.length > 0 ? ` [${facts.join(", ")}]` : ""}: ${command ?? "run by the user only"}${where}`;
}
