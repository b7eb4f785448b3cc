/** Sessions of agents other than Hermes, in terms of what the agent offers. */
import {
  type ClientContext,
  type ContentBlock,
  type McpServer,
  methods,
  type NewSessionRequest,
  RequestError,
  type SessionConfigOption,
  type SessionModeState,
} from "@zed-industries/agent-client-protocol";
import type { AgentConnection, AgentOffers } from "./agent-connection.ts";

/** ACP's error of an agent that needs a sign-in. */
const AUTH_REQUIRED = -32000;

/** Id of the option that stands for the modes of an agent without options. No agent's own option has this id. */
const MODE_OPTION = "hermes:mode";

/** Hermes asks for its key in the panel. */
export function needsSignIn({ offers }: AgentConnection, error: unknown): boolean {
  return !offers.hermes && error instanceof RequestError && error.code === AUTH_REQUIRED;
}

/** Parameters of a session: only fields and servers that the agent takes. */
export function placeFor<Place extends NewSessionRequest>(
  offers: AgentOffers,
  place: Place,
): Place | NewSessionRequest {
  if (offers.hermes) return place;
  const { cwd, mcpServers, additionalDirectories } = place;
  return {
    cwd,
    mcpServers: mcpServers.filter((server) => isTaken(server, offers)),
    ...(offers.folders && additionalDirectories && { additionalDirectories }),
  };
}

function isTaken(server: McpServer, { mcp }: AgentOffers): boolean {
  if (!("type" in server)) return true;
  if (server.type === "http") return mcp.http;
  return server.type === "sse" && mcp.sse;
}

/** Blocks that the agent takes: embedded text becomes plain text, and a picture a line about it. */
export function blocksFor(offers: AgentOffers, blocks: readonly ContentBlock[]): ContentBlock[] {
  return blocks.map((block): ContentBlock => {
    if (block.type === "image" && !offers.images) return text("[A picture is left out: this agent takes none.]");
    if (block.type !== "resource" || offers.embeddedText || !("text" in block.resource)) return withoutMeta(block);
    const { uri, text: content } = block.resource;
    return text(`${uri}:\n${content}`);
  });
}

function text(content: string): ContentBlock {
  return { type: "text", text: content };
}

function withoutMeta({ _meta: _, ...block }: ContentBlock): ContentBlock {
  return block;
}

type Opened = {
  readonly configOptions?: readonly SessionConfigOption[] | null;
  readonly modes?: SessionModeState | null;
};

/** Options of a session. An agent that has only modes gets one option for them. */
export function optionsOf({ configOptions, modes }: Opened): SessionConfigOption[] {
  if (configOptions != null && configOptions.length > 0) return [...configOptions];
  if (modes == null || modes.availableModes.length === 0) return [];
  const options = modes.availableModes.map(({ id, name, description }) => ({
    value: id,
    name,
    description: description ?? null,
  }));
  const mode = { id: MODE_OPTION, name: "Mode", category: "mode", type: "select" } as const;
  return [{ ...mode, currentValue: modes.currentModeId, options }];
}

/** The options after the agent changed its mode; undefined where they do not show it. */
export function withMode(options: readonly SessionConfigOption[], modeId: string): SessionConfigOption[] | undefined {
  if (!options.some(({ id }) => id === MODE_OPTION)) return undefined;
  return options.map((option) =>
    option.id === MODE_OPTION && option.type === "select" ? { ...option, currentValue: modeId } : option,
  );
}

/** Sets an option; resolves to all options. */
export async function setOption(
  agent: ClientContext,
  options: readonly SessionConfigOption[],
  { sessionId, configId, value }: { readonly sessionId: string; readonly configId: string; readonly value: string },
): Promise<SessionConfigOption[]> {
  if (configId === MODE_OPTION) {
    await agent.request(methods.agent.session.setMode, { sessionId, modeId: value });
    return withMode(options, value) ?? [];
  }
  return (await agent.request(methods.agent.session.setConfigOption, { sessionId, configId, value })).configOptions;
}
