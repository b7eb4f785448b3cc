/** Connection to an agent, Hermes in its worker or another program: its capabilities, and the ids of its sessions. */
import {
  type AnyMessage,
  type ClientContext,
  type ContentBlock,
  type InitializeResponse,
  type McpServer,
  type NewSessionRequest,
  RequestError,
  type Stream,
} from "@zed-industries/agent-client-protocol";
import * as vscode from "vscode";

/** Parts of ACP that an agent has. */
export type AgentOffers = {
  /** It has the `_hermes/*` methods. */
  readonly hermes: boolean;
  readonly load: boolean;
  readonly list: boolean;
  readonly close: boolean;
  /** Further folders of a session. */
  readonly folders: boolean;
  readonly images: boolean;
  readonly embeddedText: boolean;
  /** MCP servers over these transports; those over stdio always. */
  readonly mcp: { readonly http: boolean; readonly sse: boolean };
  /** Folder of its sessions, of an agent on another machine. Undefined: the window's folders. */
  readonly remoteCwd?: string;
};

export type AgentConnection = {
  /** Key of its sessions' ids; undefined for Hermes. */
  readonly name: string | undefined;
  /** For people. */
  readonly title: string;
  /** Complete once `agent` has resolved. */
  readonly offers: AgentOffers;
  /** Starts the agent when it does not run. */
  agent(): Promise<ClientContext>;
  /** Reason of a failed request in one line, with the end of the agent if that caused it. */
  explain(error: unknown): Promise<string>;
  /** Lets the user sign in; false when they did not. */
  signIn(): Promise<boolean>;
};

export const HERMES_OFFERS: AgentOffers = {
  hermes: true,
  load: true,
  list: true,
  close: true,
  folders: true,
  images: true,
  embeddedText: true,
  mcp: { http: true, sse: true },
};

export function offersOf({ agentCapabilities: can }: Pick<InitializeResponse, "agentCapabilities">): AgentOffers {
  const { http = false, sse = false } = can?.mcpCapabilities ?? {};
  const session = can?.sessionCapabilities;
  return {
    hermes: false,
    load: can?.loadSession === true,
    list: session?.list != null,
    close: session?.close != null,
    folders: session?.additionalDirectories != null,
    images: can?.promptCapabilities?.image === true,
    embeddedText: can?.promptCapabilities?.embeddedContext === true,
    mcp: { http, sse },
  };
}

/** ACP's "authentication required", which agents answer with or without data. */
export const AUTH_REQUIRED = -32000;

/** Hermes asks for its key in the panel. */
export function needsSignIn({ offers }: AgentConnection, error: unknown): boolean {
  return !offers.hermes && error instanceof RequestError && error.code === AUTH_REQUIRED;
}

/** Tries again after a sign-in, when the agent asks for one. */
export async function withSignIn<Result>(agent: AgentConnection, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!needsSignIn(agent, error)) throw error;
    if (!(await agent.signIn()))
      throw new Error(vscode.l10n.t("{0} needs a sign-in. Send a message to try again.", agent.title));
    return work();
  }
}

/** Parameters of a session: only fields and servers that the agent takes. */
export function placeFor<Place extends NewSessionRequest>(
  offers: AgentOffers,
  place: Place,
): Place | NewSessionRequest {
  if (offers.hermes) return place;
  // Folders and servers of this machine are not there.
  if (offers.remoteCwd !== undefined) return { cwd: offers.remoteCwd, mcpServers: [] };
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

/** Name of the agent that a session belongs to; undefined for Hermes. */
export function agentOf(sessionId: string): string | undefined {
  const end = sessionId.indexOf(":");
  return end > 0 ? sessionId.slice(0, end) : undefined;
}

/** A stream whose messages have the window's ids on this side, and the agent's own ids on the other side. */
export function namedSessions({ readable, writable }: Stream, name: string): Stream {
  const prefix = `${name}:`;
  const incoming = new TransformStream<AnyMessage, AnyMessage>({
    transform: (message, controller) => controller.enqueue(withIds(message, (id) => prefix + id)),
  });
  const outgoing = new TransformStream<AnyMessage, AnyMessage>({
    transform: (message, controller) =>
      controller.enqueue(withIds(message, (id) => (id.startsWith(prefix) ? id.slice(prefix.length) : id))),
  });
  // A broken pipe ends the connection by its other side.
  outgoing.readable.pipeTo(writable).catch(() => undefined);
  return { readable: readable.pipeThrough(incoming), writable: outgoing.writable };
}

type Rename = (sessionId: string) => string;

function withIds(message: AnyMessage, rename: Rename): AnyMessage {
  const renamed = { ...message } as Record<string, unknown>; // a message is a plain object with one of these two fields
  for (const field of ["params", "result"]) {
    if (renamed[field] !== undefined) renamed[field] = renamedIn(renamed[field], rename);
  }
  return renamed as AnyMessage;
}

/** `sessionId` is a field of the parameters or the result, and of the rows of a list. */
function renamedIn(value: unknown, rename: Rename): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const fields = value as Record<string, unknown>;
  const { sessionId, sessions } = fields;
  return {
    ...fields,
    ...(typeof sessionId === "string" && { sessionId: rename(sessionId) }),
    ...(Array.isArray(sessions) && { sessions: sessions.map((row) => renamedIn(row, rename)) }),
  };
}
