/** Extensions of a session: its MCP servers, plugins, hooks, skills and custom agents. */
import * as z from "zod";
import { inSession, nothing } from "./method.ts";

export const HermesExtensionAction = z.enum(["allow", "enable", "disable", "restart", "sign-in", "sign-out"]);
export type HermesExtensionAction = z.infer<typeof HermesExtensionAction>;

export const HermesExtensionItem = z.object({
  /** Unique among all items of the session. */
  id: z.string(),
  kind: z.enum(["mcp", "plugin", "hook", "skill", "agent"]),
  name: z.string(),
  /** Origin for display: `config.yaml`, `.mcp.json`, a folder. */
  source: z.string(),
  state: z.enum(["on", "off", "starting", "needs-consent", "needs-sign-in", "failed"]),
  /** One line. For an item that needs consent: the whole command that it would run. */
  detail: z.string(),
  /** Last error, in one line. */
  error: z.string().exactOptional(),
  /** File or folder that defines the item; absolute. */
  path: z.string().exactOptional(),
  /** Tools of a server, in its order. */
  tools: z
    .array(z.object({ name: z.string(), on: z.boolean() }))
    .readonly()
    .exactOptional(),
  /** In order of importance. */
  actions: z.array(HermesExtensionAction).readonly(),
});
export type HermesExtensionItem = z.infer<typeof HermesExtensionItem>;

/** Places of the home where users put extensions; absolute. They may not exist yet. */
export const HermesHomePlaces = z.object({
  /** config.yaml. */
  config: z.string(),
  /** Folders. */
  skills: z.string(),
  plugins: z.string(),
});

export const HermesExtensionPlaces = HermesHomePlaces.extend({
  /** `.mcp.json` of the session's folder. */
  workspaceServers: z.string(),
});

/** Servers, plugins, hooks, skills, then agents. */
const items = z.array(HermesExtensionItem).readonly();

export const HermesExtensions = z.object({ items, places: HermesExtensionPlaces });
export type HermesExtensions = z.infer<typeof HermesExtensions>;

/**
 * `argument`: name of a tool, to enable or disable that tool of a server alone; for a sign-in that waits, the address that a
 * browser on another machine was redirected to.
 */
export const HermesExtensionAct = inSession.extend({
  id: z.string(),
  action: HermesExtensionAction,
  argument: z.string().exactOptional(),
});
export type HermesExtensionAct = z.infer<typeof HermesExtensionAct>;

const strings = z.record(z.string(), z.string());

/** `section`: as in `mcp_servers` of config.yaml. `variables`: values of its variables or headers, which go to `.env`. */
export const HermesAddServer = z.object({
  name: z.string().regex(/^[\w.-]+$/),
  section: z.union([
    z.object({ command: z.string().min(1), args: z.array(z.string()).readonly(), env: strings }),
    z.object({ url: z.url(), type: z.literal("sse").exactOptional(), headers: strings }),
  ]),
  variables: strings,
});
export type HermesAddServer = z.infer<typeof HermesAddServer>;

/** `message`: outcome in one line, for the user. */
export const HermesExtensionActed = z.object({ message: z.string() });

export const HermesExtensionsChanged = inSession.extend({ items });
export type HermesExtensionsChanged = z.infer<typeof HermesExtensionsChanged>;

export const extensionMethods = {
  list: { name: "_hermes/extensions/list", params: inSession, result: HermesExtensions },
  /** Needs no session. */
  places: { name: "_hermes/extensions/places", params: nothing, result: HermesHomePlaces },
  /** Fails with -32602 for an unknown item or an action that it does not offer. */
  act: { name: "_hermes/extensions/act", params: HermesExtensionAct, result: HermesExtensionActed },
  /** Writes a server into config.yaml; sessions that open later have it. Fails for a name that is taken. */
  addServer: { name: "_hermes/extensions/add_server", params: HermesAddServer, result: nothing },
  /** Agent → client. Only where `extensions` is declared. */
  changed: { name: "_hermes/extensions/changed", params: HermesExtensionsChanged },
};

/** `opened`: false when the user refused. */
const opened = z.object({ opened: z.boolean() });

/**
 * Agent → client: opens an http(s) address in the user's browser. Only where `openUrl` is declared. `message`: a sentence that
 * the user needs on the page.
 */
export const openUrlMethod = {
  name: "_hermes/editor/open_url",
  params: z.object({ url: z.url(), message: z.string().optional() }),
  result: opened,
};
