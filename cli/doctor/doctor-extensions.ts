/** Checks of `hermes doctor` for what the user or the workspace brings along: MCP servers, hooks, plugins and skills. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { reservedNames } from "../../agent-core/acp/commands/slash-commands.ts";
import { Consents } from "../../agent-core/approval/consents.ts";
import { readByItself } from "../../agent-core/approval/workspace-file.ts";
import { extensionPlaces } from "../../agent-core/config/home.ts";
import { Switches } from "../../agent-core/config/switches.ts";
import { readForeignHooks } from "../../agent-core/hooks/foreign-hooks.ts";
import { readHomeHooks } from "../../agent-core/hooks/home-hooks.ts";
import { CLAUDE_FILES } from "../../agent-core/hooks/hook.ts";
import { acceptsHooks } from "../../agent-core/hooks/hooks-extension.ts";
import { SessionHooks } from "../../agent-core/hooks/session-hooks.ts";
import { offersTool, type ServerConfig, serverDetail, serversFrom } from "../../agent-core/mcp/server-config.ts";
import { ServerConnection } from "../../agent-core/mcp/server-connection.ts";
import { WorkspaceServers } from "../../agent-core/mcp/workspace-servers.ts";
import { counted } from "../../agent-core/platform/counted.ts";
import { Deadline } from "../../agent-core/platform/deadline.ts";
import { findProgram } from "../../agent-core/platform/find-program.ts";
import { parseJson } from "../../agent-core/platform/json.ts";
import { findPlugins, unknownPlugin } from "../../agent-core/plugins/find-plugins.ts";
import { projectCommands } from "../../agent-core/skills/command-files.ts";
import { foreignPlatform } from "../../agent-core/skills/skill-library.ts";
import {
  externalPlaces,
  projectPlaces,
  type Skill,
  type SkillPlace,
  scanPlace,
} from "../../agent-core/skills/skill-places.ts";
import { type Check, type Diagnosis, type Facts, limited, summed, waiting, works } from "./diagnosis.ts";

export const extensionChecks = { mcpServers, hooks, plugins, skills, others } satisfies Record<string, Check>;

/** Limit for the start of a server: the first start of an `npx` server downloads its package. Milliseconds. */
const START_LIMIT_MS = 10_000;

/** Servers of config.yaml and of the workspace. Programs that a session would start are started, and ended. */
async function mcpServers({ configured, environment, home: folder, cwd }: Facts): Promise<readonly Diagnosis[]> {
  const name = "mcp";
  const own = serversFrom(configured.config.mcpServers, { source: "config", sourceName: "config.yaml" });
  const workspace = new WorkspaceServers([cwd], environment).read();
  const switches = await Switches.of(folder);
  const consents = new Consents(folder, () => undefined);
  const problems = [...limited(name, own.problems, "mcp_servers"), ...limited(name, workspace.problems, "the file")];
  const found = own.servers.map((server) => serverDiagnosis(server, cwd, switches.get(`mcp:${server.name}`).isOn));
  const names = new Set(own.servers.map((server) => server.name));
  for (const { config: server, hash, description } of workspace.servers) {
    if (names.has(server.name)) continue;
    const { isOn } = switches.get(`mcp:${hash}`);
    const text = `${server.name} of ${server.sourceName}: ${description}`;
    if (isOn === false || consents.isAllowed("mcp", hash)) found.push(serverDiagnosis(server, cwd, isOn));
    else found.push(Promise.resolve(waiting(name, text, `hermes mcp allow ${server.name}`)));
  }
  return found.length + problems.length === 0 ? works(name, "none") : [...problems, ...(await Promise.all(found))];
}

/** `isOn`: the user's own switch; undefined without one. */
async function serverDiagnosis(server: ServerConfig, cwd: string, isOn: boolean | undefined): Promise<Diagnosis> {
  const name = "mcp";
  const { settings, isEnabled, sourceName } = server;
  const text = `${server.name}: ${serverDetail(server)}`;
  if (!(isOn ?? isEnabled)) return { name, state: "works", text: `${text}, off` };
  if (settings.kind !== "stdio") return { name, state: "works", text: `${text}, not contacted` };
  const limitedBy = (problem: string, fix: string): Diagnosis => ({ name, state: "limited", text: problem, fix });
  const { command } = settings;
  if (!existsSync(resolve(cwd, settings.cwd ?? ".", command)) && findProgram(command) === undefined) {
    const fix = `install ${command}, or correct ${server.name} in ${sourceName}`;
    return limitedBy(`${server.name}: ${command} was not found on PATH`, fix);
  }
  const connection = new ServerConnection({ config: server, folder: cwd });
  const isStarted = await new Deadline(START_LIMIT_MS).waitFor(connection.start());
  const { state, listing } = connection;
  await connection.close();
  if (state.kind === "on") {
    const offered = listing.tools.filter((tool) => offersTool(server, tool.name));
    return { name, state: "works", text: `${text}, ${counted(offered.length, "tool")}` };
  }
  if (!isStarted) {
    const fix = "run hermes mcp list, which waits longer: a first start may download the server";
    return limitedBy(`${text}, has not started within ${START_LIMIT_MS / 1_000} s`, fix);
  }
  return limitedBy(
    `${text}: ${"error" in state ? state.error : state.kind}`,
    `correct ${server.name} in ${sourceName}`,
  );
}

async function hooks({ configured, environment, home: folder, cwd }: Facts): Promise<readonly Diagnosis[]> {
  const name = "hooks";
  const { hooks: section, hooksAutoAccept } = configured.config;
  const consents = new Consents(folder, () => undefined);
  const options = { section, cwd, home: folder, consents, withheld: [], trusted: () => true };
  const autoAccept = hooksAutoAccept || acceptsHooks(environment);
  const session = new SessionHooks({ ...options, autoAccept, show: () => undefined }, () => undefined);
  await session.refresh();
  const items = session.items();
  const unused = items.filter(({ state }) => state === "needs-consent");
  const usable = items
    .filter(({ state }) => state !== "needs-consent")
    .map((hook) => `${hook.name}: ${hook.detail}${hook.state === "off" ? " (off)" : ""}`);
  return summed(name, usable, [
    ...limited(name, readHomeHooks(section).problems, "config.yaml"),
    ...limited(name, (await readForeignHooks(cwd)).problems, "the file"),
    ...unused.map((hook) => waiting(name, `${hook.name} of ${hook.source}: ${hook.detail}`, "hermes hooks")),
  ]);
}

async function plugins({ home: folder, configured }: Facts): Promise<readonly Diagnosis[]> {
  const { enabled, disabled } = configured.config.plugins;
  const installed = await findPlugins(extensionPlaces(folder).plugins);
  const problems = installed.flatMap(({ name, problem }) => (problem === undefined ? [] : [`${name}: ${problem}`]));
  const usable = installed
    .filter(({ problem }) => problem === undefined)
    .map(({ name }) => (enabled.includes(name) && !disabled.includes(name) ? name : `${name} (off)`));
  const names = installed.map(({ name }) => name);
  const missing = enabled.filter((name) => !names.includes(name)).map((name) => unknownPlugin(name, names));
  return summed("plugins", usable, [
    ...limited("plugins", problems, "the plugin"),
    ...limited("plugins", missing, "plugins.enabled in config.yaml"),
  ]);
}

async function skills({ home: folder, cwd, configured }: Facts): Promise<readonly Diagnosis[]> {
  const homePlace: SkillPlace = { source: "home", folder: extensionPlaces(folder).skills, shown: "home" };
  const { externalFolders = [] } = configured.options.skills || {};
  const external = externalPlaces(externalFolders, folder);
  const places = await Promise.all([...projectPlaces([cwd]), homePlace, ...external].map(scanPlace));
  const found = [...places, ...(await projectCommands([cwd], reservedNames))];
  const failures = found.flatMap((place) => place.failures);
  const problems = failures.map(({ path, line, reason }) => `${path}:${line}: ${reason}`);
  return summed(
    "skills",
    found.flatMap((place) => place.skills).map(usableText),
    limited("skills", problems, "the skill"),
  );
}

function usableText(skill: Skill): string {
  const reason = foreignPlatform(skill);
  return reason === undefined ? skill.name : `${skill.name} (off: ${reason})`;
}

/** Sessions of an original Hermes, and rules of Claude Code, which have no effect here. */
function others({ home, cwd }: Facts): readonly Diagnosis[] {
  const file = join(home, "state.db");
  const text = `${file} of an original Hermes: hermes "/import" copies its sessions`;
  const rules = CLAUDE_FILES.filter((name) => {
    const read = readByItself(join(cwd, name), { within: [cwd] });
    return read.ok && "permissions" in Object(parseJson(read.text));
  });
  const ignored = rules.map((name) => `permissions of ${name} has no effect here`);
  return [...(existsSync(file) ? works("others", text) : []), ...limited("others", ignored, "the mode, or /grants")];
}
