/** A tool of a plugin: its arguments are checked against its own schema before the plugin gets them. */
import { messageOf } from "../platform/errors.ts";
import type { ArgumentCheck } from "../tools/argument-check.ts";
import type { Tool, ToolContext, ToolResult } from "../tools/tool.ts";
import type { InstalledPlugin } from "./find-plugins.ts";
import type { PluginConnection } from "./plugin-connection.ts";
import type { Registration } from "./plugin-messages.ts";

type ToolRegistration = Extract<Registration, { kind: "tool" }>;

type ToolPorts = {
  readonly plugin: Pick<InstalledPlugin, "name" | "folder">;
  readonly connection: Pick<PluginConnection, "call">;
  /** Timeout without one of the tool's own. Milliseconds. */
  readonly timeoutMs: number;
};

type Schema = Readonly<Record<string, unknown>>;

/** Characters of a call's title. */
const TITLE_CHARS = 80;

export function pluginTool(
  registration: ToolRegistration,
  { plugin: { name: plugin, folder }, connection, timeoutMs }: ToolPorts,
): Tool {
  const { name, description, parameters, readOnly, handler, timeout } = registration;
  const check = lazyCheck(parameters);
  const call = async (input: unknown, { cwd, sessionId, signal, show }: ToolContext): Promise<ToolResult> => {
    const value = await connection.call({
      handler,
      input,
      facts: { cwd, sessionId },
      subject: `its tool ${name}`,
      timeoutMs: timeout === undefined ? timeoutMs : timeout * 1_000,
      signal,
      onShow: (text) => show({ type: "output", text }),
    });
    return resultOf(value);
  };
  return {
    name,
    toolset: `plugin-${plugin}`,
    kind: readOnly ? "read" : "other",
    readOnly,
    interactive: false,
    largeOutput: false,
    deferrable: true,
    schema: { name, description, parameters: { ...parameters } },
    prepare(args) {
      return {
        ok: true,
        call: {
          title: titleOf(name, args),
          locations: [],
          effect: {
            kind: "foreign",
            origin: `plugin:${folder}`,
            originName: `the plugin ${plugin}`,
            tool: name,
            readOnly,
            args,
          },
          async stage(context) {
            const problem = await check(args);
            if (problem !== undefined)
              return { ok: false, text: `${name}: ${problem} Call it again with corrected arguments.` };
            return { ok: true, diffs: [], run: () => call(args, context) };
          },
        },
      };
    },
  };
}

/** Compiles the schema at the first call: few tools of a plugin are used in a session. */
function lazyCheck(schema: Schema): (input: unknown) => Promise<string | undefined> {
  let compiled: Promise<ArgumentCheck> | undefined;
  return async (input) => {
    compiled ??= import("../tools/argument-check.ts").then(({ argumentCheck }) => argumentCheck(schema));
    try {
      const problem = (await compiled)(input);
      return problem && `the arguments do not fit its schema: ${problem.replaceAll(/(^|, )data/g, "$1arguments")}.`;
    } catch (error) {
      return `its schema is not valid (${messageOf(error)}).`;
    }
  };
}

function titleOf(name: string, input: unknown): string {
  const values = Object.values(Object(input)).filter((value) => typeof value === "string" || typeof value === "number");
  const title = [name, ...values].join(" ").replace(/\s+/g, " ");
  return title.length <= TITLE_CHARS ? title : `${title.slice(0, TITLE_CHARS - 1)}…`;
}

/** A text, `{ text, ok? }`, or any other value as JSON. */
function resultOf(value: unknown): ToolResult {
  if (typeof value === "string") return { ok: true, text: value };
  const { text, ok } = Object(value);
  if (typeof text === "string") return { ok: ok !== false, text };
  return { ok: true, text: value === null ? "Done." : JSON.stringify(value, null, 1) };
}
