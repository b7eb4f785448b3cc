/** Servers of one session, with the fixture as their server. They are disposed of after each test. */
import { join } from "node:path";
import { afterEach, expect } from "vitest";
import type { ExtensionSession } from "../../../../agent-core/agent/extensions.ts";
import type { McpServerSection } from "../../../../agent-core/config/sections.ts";
import { Switches } from "../../../../agent-core/config/switches.ts";
import type { Answer, Question } from "../../../../agent-core/host/host.ts";
import { type ServerConfig, serversFrom } from "../../../../agent-core/mcp/server-config.ts";
import { SessionServers } from "../../../../agent-core/mcp/session-servers.ts";
import type { Tool, ToolResult } from "../../../../agent-core/tools/tool.ts";
import { temporaryFolder } from "../../../support/acp-client.ts";
import { type Bench, toolBench } from "../../../support/tool-context.ts";

export const FIXTURE = join(import.meta.dirname, "../../../support/mcp-fixture.mjs");
export const SECTION = {
  args: [],
  env: {},
  headers: {},
  tools: { exclude: [], resources: true, prompts: true },
  enabled: true,
};

/** The fixture as a server of config.yaml. */
export function fixture(
  args: readonly string[] = [],
  changes: Partial<McpServerSection> = {},
  name = "fix",
): ServerConfig {
  const section = { ...SECTION, command: process.execPath, args: [FIXTURE, ...args], ...changes };
  const { servers, problems } = serversFrom({ [name]: section }, { source: "config", sourceName: "config.yaml" });
  expect(problems).toEqual([]);
  const [server] = servers;
  if (server === undefined) throw new Error("no server");
  return server;
}

export type Opened = {
  readonly servers: SessionServers;
  readonly bench: Bench;
  readonly lines: string[];
  readonly questions: Question[];
  tool(end: string): Tool;
  call(end: string, args?: unknown): Promise<ToolResult>;
};

type Circumstances = {
  readonly trusted?: () => boolean;
  readonly answers?: Answer[];
  readonly cwd?: string;
  readonly known?: boolean;
  readonly waits?: boolean;
};

/** The sessions of most tests share one server: a start costs more than a test. */
export const shared = temporaryFolder("hermes-mcp-");
export const opened: SessionServers[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((servers) => servers.dispose()));
});

export async function open(configs: readonly ServerConfig[], circumstances: Circumstances = {}): Promise<Opened> {
  const { trusted = () => true, answers = [] } = circumstances;
  const bench = toolBench({ kind: "unavailable" }, undefined, circumstances.cwd ?? shared);
  const lines: string[] = [];
  const questions: Question[] = [];
  const ask = async (question: Question): Promise<Answer> => {
    questions.push(question);
    return answers.shift() ?? { kind: "unavailable" };
  };
  const auxiliary = {
    ask: async () => ({ ok: true, text: "forty-two", calls: [], usage: undefined }),
    ownModel: () => undefined,
  };
  const session = {
    sessionId: "s",
    cwd: bench.folder,
    approve: undefined,
    ask,
    isKnown: (text: string) => circumstances.known === true && text !== "",
    status: ({ message }: { readonly message: string }) => lines.push(message),
    auxiliary,
  } as unknown as ExtensionSession;
  const home = temporaryFolder("hermes-mcp-home-");
  const options = {
    servers: configs,
    problems: [],
    cwd: bench.folder,
    otherFolders: [],
    trusted,
    home,
    environment: {},
    openPage: async () => "unavailable" as const,
    isListed: false,
    onDefect: (line: string) => lines.push(line),
  };
  const servers = new SessionServers(options, await Switches.of(home), session);
  opened.push(servers);
  if (circumstances.waits !== false) await servers.ready;
  const tool = (end: string): Tool => {
    const found = servers.tools().find(({ name }) => name.endsWith(`__${end}`));
    if (found === undefined) throw new Error(`no tool ${end}`);
    return found;
  };
  const call = async (end: string, args: unknown = {}): Promise<ToolResult> => {
    const prepared = tool(end).prepare(args, bench.folder);
    if (!prepared.ok) return { ok: false, text: prepared.text };
    const staged = await prepared.call.stage({ ...bench.context, ask });
    return staged.ok ? staged.run() : { ok: false, text: staged.text };
  };
  return { servers, bench, lines, questions, tool, call };
}
