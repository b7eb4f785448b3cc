/** Plugins of a session in a home of the test. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import type { ExtensionSession } from "../../../../agent-core/agent/extensions.ts";
import { Plugins, type PluginsOptions } from "../../../../agent-core/plugins/plugins.ts";
import type { ToolContext, ToolResult } from "../../../../agent-core/tools/tool.ts";

/** HERMES_HOME of the test. */
export let home: string;
let running: Plugins[];
/** Lines for the user. */
export let shown: string[];
export let logged: string[];
/** Nothing cancels the calls. */
export const { signal: never } = new AbortController();

/** For each test of a file: a new home. Its plugins end with the test. */
export function inNewHome(): void {
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "hermes-plugins-"));
    running = [];
    shown = [];
    logged = [];
  });

  afterEach(async () => {
    for (const plugins of running) await plugins.dispose();
  });
}

export function install(
  name: string,
  code: string,
  manifest = `name: ${name}\nversion: "1.0"\ndescription: A test\n`,
): void {
  const folder = join(home, "plugins", name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "plugin.yaml"), manifest);
  writeFileSync(join(folder, "index.js"), code);
}

type Settings = Partial<PluginsOptions["config"]> &
  Partial<Pick<PluginsOptions, "engineName" | "environment" | "timeouts">>;

/** The plugins of a session, once they have started. */
export async function started({ engineName, environment = {}, timeouts, ...config }: Settings): Promise<Plugins> {
  const plugins = new Plugins({
    home,
    config: { enabled: [], disabled: [], entries: {}, ...config },
    engineName,
    reservedNames: ["undo", "skills"],
    environment,
    variables: { withheld: ["SECRET_OF_OURS"], passed: {} },
    log: (line) => logged.push(line),
    ...(timeouts && { timeouts }),
  });
  running.push(plugins);
  const session = {
    sessionId: "session-1",
    cwd: home,
    status: ({ message }: { message: string }) => shown.push(message),
  };
  plugins.begin(session as unknown as ExtensionSession); // plugins use no more of it
  await plugins.ready;
  return plugins;
}

export async function run(
  plugins: Plugins,
  name: string,
  args: unknown,
  context: Partial<ToolContext> = {},
): Promise<ToolResult> {
  const tool = plugins.tools().find((candidate) => candidate.name === name);
  const prepared = tool?.prepare(args, home);
  if (prepared?.ok !== true) throw new Error(`There is no tool ${name}.`);
  const ports = { cwd: home, sessionId: "session-1", signal: never, show: () => undefined, ...context };
  const staged = await prepared.call.stage(ports as ToolContext);
  return staged.ok ? staged.run() : staged;
}

export const tool = (name: string, body: string): string =>
  `ctx.registerTool({ name: "${name}", description: "A test", async run(args, call) { ${body} } });`;
export const plugin = (body: string): string => `export default function register(ctx) { ${body} }`;
export const QUICK = { start: 10_000, tool: 300, hook: 300, other: 300, cancel: 300 };
