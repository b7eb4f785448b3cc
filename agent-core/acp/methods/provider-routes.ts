/** The standard's `providers/*`: one provider, the place of the configured model, which a client sets for its connection. */
import * as z from "zod";
import { failure, invalidParams } from "../../protocol/handle.ts";
import type { AgentServer } from "../agent-server.ts";

const MAIN = "main";
/** API modes by the standard's name of the protocol. */
const API_TYPES = { openai: "chat_completions", anthropic: "anthropic_messages" } as const;
const NO_ROUTE = { HERMES_BASE_URL: null, HERMES_API_MODE: null, HERMES_API_KEY: null };

const named = z.object({ providerId: z.literal(MAIN) });
const apiType = z.enum(["openai", "anthropic"]);
const route = named.extend({
  apiType,
  baseUrl: z.url(),
  headers: z.record(z.string(), z.string()).default({}),
});

/** Each rejects with the protocol's error for parameters that Hermes cannot take. */
export const providerRoutes = {
  /** The provider with its present route; without one the agent has no model. */
  async list(server: AgentServer): Promise<object> {
    const current = await currentRoute(server);
    const provider = { providerId: MAIN, supported: apiType.options, required: false };
    return { providers: [{ ...provider, ...(current.baseUrl !== undefined && { current }) }] };
  },

  /** Refused where config.yaml names another address, which wins. */
  async set(server: AgentServer, params: unknown): Promise<object> {
    const { apiType: type, baseUrl, headers } = parsed(route, params);
    const key = { HERMES_API_KEY: keyIn(headers) };
    await server.changeEnvironment({ HERMES_BASE_URL: baseUrl, HERMES_API_MODE: API_TYPES[type], ...key });
    const current = await currentRoute(server);
    if (current.baseUrl === baseUrl) return {};
    await server.changeEnvironment(NO_ROUTE);
    throw failure(`config.yaml names ${current.baseUrl ?? "another provider"} for its model, which wins.`);
  },

  /** Ends a route that the client has set: the home's own model counts again. */
  async disable(server: AgentServer, params: unknown): Promise<object> {
    parsed(named, params);
    await server.changeEnvironment(NO_ROUTE);
    return {};
  },
};

async function currentRoute(server: AgentServer): Promise<{ readonly apiType: string; readonly baseUrl?: string }> {
  await server.configuration.read();
  const resolved = server.configuration.directory.resolve(undefined);
  if (!resolved.ok) return { apiType: "openai" };
  const { mode, endpoint } = resolved.model;
  const type = mode === API_TYPES.anthropic ? "anthropic" : "openai";
  return { apiType: type, ...(endpoint.baseUrl !== undefined && { baseUrl: endpoint.baseUrl }) };
}

function parsed<Schema extends z.ZodType>(schema: Schema, params: unknown): z.output<Schema> {
  const { data, error } = schema.safeParse(params);
  if (data !== undefined) return data;
  const [issue] = error?.issues ?? [];
  throw invalidParams(issue?.path.join(".") ?? "params", issue?.message ?? "invalid");
}

function keyIn(headers: Readonly<Record<string, string>>): string | null {
  const other = Object.keys(headers).find((name) => !/^(?:authorization|x-api-key)$/i.test(name));
  if (other !== undefined) throw invalidParams("headers", `${other} is not a header of a key`);
  return Object.values(headers)[0]?.replace(/^Bearer /i, "") ?? null;
}
