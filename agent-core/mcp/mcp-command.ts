/** The slash command `/mcp`: lists the servers of the session, and acts on them as the panel's page does. */
import type { ExtensionCommand } from "../agent/extensions.ts";
import { counted } from "../platform/counted.ts";
import { abortable } from "../platform/deadline.ts";
import { UsageError } from "../platform/errors.ts";
import type { HermesExtensionAction, HermesExtensionItem } from "../protocol/extensions.ts";
import type { SessionServers } from "./session-servers.ts";

export type CommandServers = Pick<SessionServers, "items" | "settled" | "act" | "signIn" | "paste"> & {
  /** Takes over changes of the workspace. Settles when the servers are known. */
  refresh(): Promise<void>;
};

/** Argument that the command line adds: it ends with the answer, so the command first waits for starts and sign-ins. */
const WAIT = "--wait";

const ACTIONS: Readonly<Record<string, HermesExtensionAction>> = {
  allow: "allow",
  restart: "restart",
  signin: "sign-in",
  /** Word of the original Hermes Agent. */
  login: "sign-in",
  signout: "sign-out",
  logout: "sign-out",
  enable: "enable",
  disable: "disable",
  on: "enable",
  off: "disable",
};
const HINT = "[list | NAME | allow|restart|signin|signout|enable|disable NAME [TOOL]]";
const PLACES = "`mcp_servers` in config.yaml, or `.mcp.json` in the workspace";

export function mcpCommand(servers: CommandServers): ExtensionCommand {
  return {
    name: "mcp",
    description: "List MCP servers, allow, restart, sign in, switch servers and tools on or off",
    hint: HINT,
    run: (argument, signal) => abortable(answerTo(argument, servers, signal), signal),
  };
}

async function answerTo(argument: string, servers: CommandServers, signal: AbortSignal): Promise<string> {
  const words = argument.split(/\s+/).filter((word) => word !== "");
  const isWaiting = words.includes(WAIT);
  await servers.refresh();
  const rest = words.filter((word) => word !== WAIT);
  const [verb = "list"] = rest;
  if (verb !== "list") target(rest, servers.items()); // a wrong name does not wait for the servers
  if (isWaiting) await servers.settled();
  return verb === "list" ? listOf(servers.items()) : answer(rest, servers, isWaiting ? signal : undefined);
}

/** Server that the words name, and their action on it. Throws a UsageError for an unknown one. */
function target([verb = "", ...rest]: readonly string[], items: readonly HermesExtensionItem[]) {
  const action = ACTIONS[verb];
  const { item, detail } = find(items, action === undefined ? [verb, ...rest] : rest);
  if (item !== undefined) return { verb, action, item, detail };
  if (action !== undefined) throw new UsageError(unknown(rest.join(" "), items));
  throw new UsageError(`${unknown(verb, items)} Type \`/mcp ${HINT}\`.`);
}

/**
 * With `waiting`, the answer to a sign-in comes when the user has signed in, or the signal is aborted. Then a server that
 * fails after the command is an error: the command line has an exit code.
 */
async function answer(
  words: readonly string[],
  servers: CommandServers,
  waiting: AbortSignal | undefined,
): Promise<string> {
  const { verb, action, item, detail } = target(words, servers.items());
  if (action === undefined) return details(item);
  if (action === "sign-in" && detail === undefined && waiting !== undefined) return servers.signIn(item.id, waiting);
  if (action === "sign-in") return detail === undefined ? servers.act(item.id, action) : servers.paste(item.id, detail);
  // A tool can be switched even where its server offers only the opposite switch.
  if (item.actions.includes(action) || detail !== undefined) {
    const outcome = await servers.act(item.id, action, detail);
    const hasFailed = servers.items().some(({ id, state }) => id === item.id && state === "failed");
    if (waiting !== undefined && hasFailed) throw new Error(outcome);
    return outcome;
  }
  return `${item.name} is ${STATES[item.state]}: \`${verb}\` has no effect.`;
}

const STATES: Readonly<Record<HermesExtensionItem["state"], string>> = {
  on: "on",
  off: "off",
  starting: "starting",
  "needs-consent": "waiting for your consent",
  "needs-sign-in": "waiting for your sign-in",
  failed: "failed",
};

function listOf(items: readonly HermesExtensionItem[]): string {
  if (items.length === 0)
    return `There are no MCP servers. A server gives the agent further tools.\n\nAdd them to ${PLACES}.`;
  return [...items.map(line), "", `Type \`/mcp ${HINT}\`.`].join("\n");
}

function line(item: HermesExtensionItem): string {
  const { name, source, state, detail, error, tools = [] } = item;
  const off = tools.filter(({ on }) => !on).length;
  const offered = state === "on" ? `, ${counted(tools.length, "tool")}${off > 0 ? ` (${off} off)` : ""}` : "";
  const reason = state === "needs-consent" ? `: ${code(detail)}. Type \`/mcp allow ${name}\` to start it` : "";
  return `- **${name}** (${source}): ${STATES[state]}${offered}${reason}${error === undefined ? "" : `${BEFORE_ERROR[state] ?? ". "}${error}`}`;
}

const BEFORE_ERROR: Partial<typeof STATES> = { failed: ": ", on: "; " };

function details(item: HermesExtensionItem): string {
  const tools = (item.tools ?? []).map(({ name, on }) => `- \`${name}\`${on ? "" : " (off)"}`);
  return [line(item), "", code(item.detail), ...(tools.length > 0 ? ["", ...tools] : [])].join("\n");
}

function code(text: string): string {
  const fence = text.includes("`") ? "``" : "`";
  return `${fence}${text}${fence}`;
}

/** The item whose name the words begin with, in any case; an exact name first. `detail`: the other words. */
function find(items: readonly HermesExtensionItem[], words: readonly string[]) {
  for (let count = words.length; count > 0; count -= 1) {
    const name = words.slice(0, count).join(" ");
    const same = (item: HermesExtensionItem): boolean => item.name.toLowerCase() === name.toLowerCase();
    const item = items.find((each) => each.name === name) ?? items.find(same);
    const detail = words.slice(count).join(" ");
    if (item !== undefined) return { item, detail: detail === "" ? undefined : detail };
  }
  return { item: undefined, detail: undefined };
}

function unknown(name: string, items: readonly HermesExtensionItem[]): string {
  const names = items.map((item) => `\`${item.name}\``).join(", ");
  const known = items.length === 0 ? `There are none: add them to ${PLACES}.` : `There are ${names}.`;
  return name === "" ? `Name a server. ${known}` : `There is no MCP server \`${name}\`. ${known}`;
}
