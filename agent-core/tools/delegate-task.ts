import * as z from "zod";
import type { TaskSpec, taskId } from "../orchestration/task-graph.ts";
import { messageOf } from "../platform/errors.ts";
import { parseJson } from "../platform/json.ts";
import { spillPath, writeSpillFile } from "../sessions/session-files.ts";
import { shortTitle } from "./shown-path.ts";
import { defineTool } from "./tool.ts";

const text = z.string().refine((given) => given.trim() !== "", "must not be empty");
const names = z.array(z.string());

const task = z.object({
  id: text.optional(),
  goal: text,
  agent: z.string().optional().describe("One of the agents, if any are listed"),
  context: z.string().optional(),
  toolsets: names.optional(),
  depends_on: names.optional().describe("Ids; it gets their results"),
  result_schema: z.unknown().optional().describe("JSON Schema of the result"),
  output_schema: z.unknown().optional(),
  task_type: z.string().optional().describe("code, research, writing, data or other"),
  timeout_seconds: z
    .number()
    .refine((seconds) => seconds > 0, "must be more than 0")
    .optional(),
  model: z.string().optional(),
  files: names.optional().describe("That it will write"),
});

const input = z.object({
  goal: text.optional().describe("One task"),
  agent: z.string().optional(),
  context: z.string().optional().describe("It does not see this conversation"),
  toolsets: names.optional().describe("Default: all of yours"),
  tasks: z.array(task).optional().describe("Several tasks, in parallel unless depends_on"),
});

type Input = z.infer<typeof input>;

export const tool = defineTool({
  name: "delegate_task",
  toolset: "delegation",
  kind: "other",
  readOnly: false,
  need: "rare",
  description:
    "Give self-contained tasks to sub-agents with contexts of their own. Returns their results with facts: changed files, exit codes. For work that splits well or would fill your context, not for a few tool calls.",
  input,
  title: ({ goal, tasks }) =>
    tasks === undefined || tasks.length === 1
      ? shortTitle(`Delegate: ${tasks?.[0]?.goal ?? goal ?? ""}`)
      : `Delegate ${tasks.length} tasks`,
  effect: () => ({ kind: "none" }),
  async run(given, { delegate, callId, spillFolder }) {
    if (delegate === undefined) return refused(["A sub-agent cannot delegate. Do the task yourself."]);
    const graph = await import("../orchestration/task-graph.ts");
    const specs = specsOf(given, graph.taskId);
    if (!specs.ok) return refused(specs.problems);
    const delegated = await delegate(specs.tasks);
    if (!delegated.ok) return refused(delegated.problems);
    const { resultText } = await import("../orchestration/task-result.ts");
    const { text: shown, whole } = resultText(delegated.results);
    const { tasks } = delegated;
    if (whole === undefined) return { ok: true, text: shown, tasks };
    const path = spillPath({ callId, spillFolder }, "delegation", ".json");
    const where = await writeSpillFile(path, whole).then(
      () => `The results above are shortened. The whole (${whole.length} characters) is in ${path}.`,
      (error: unknown) => `The results above are shortened. They could not be stored in full: ${messageOf(error)}.`,
    );
    return { ok: true, text: `${shown}\n\n[${where}]`, tasks };
  },
});

function refused(problems: readonly string[]) {
  return { ok: false, text: `delegate_task: nothing was started. ${problems.join(" ")}` };
}

type Specs =
  | { readonly ok: true; readonly tasks: readonly TaskSpec[] }
  | { readonly ok: false; readonly problems: readonly string[] };

function specsOf({ goal, agent, context, toolsets, tasks }: Input, idOf: typeof taskId): Specs {
  if (goal !== undefined && tasks !== undefined && tasks.length > 0) {
    return { ok: false, problems: ["Give either a goal or tasks, not both."] };
  }
  const given = goal === undefined ? (tasks ?? []) : [{ goal }];
  const problems: string[] = [];
  const specs = given.map((one: z.infer<typeof task>, index): TaskSpec => {
    const id = idOf(one.id, index);
    const schema = schemaOf(one.result_schema ?? one.output_schema);
    if (schema === null) problems.push(`${JSON.stringify(id)}: its result_schema is not an object.`);
    return {
      id,
      goal: one.goal,
      agent: one.agent ?? agent,
      context: one.context ?? context,
      toolsets: one.toolsets ?? toolsets,
      dependsOn: one.depends_on ?? [],
      files: one.files ?? [],
      taskType: one.task_type,
      model: one.model,
      timeoutSeconds: one.timeout_seconds,
      resultSchema: schema ?? undefined,
    };
  });
  return problems.length > 0 ? { ok: false, problems } : { ok: true, tasks: specs };
}

/** A schema as an object, or as JSON text; null for anything else. */
function schemaOf(given: unknown): Readonly<Record<string, unknown>> | null | undefined {
  if (given === undefined || given === null) return undefined;
  const value = typeof given === "string" ? parseJson(given) : given;
  const parsed = z.record(z.string(), z.unknown()).safeParse(value);
  return parsed.success ? parsed.data : null;
}
