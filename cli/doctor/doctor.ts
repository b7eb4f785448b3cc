/**
 * `hermes doctor`: checks of this machine and its configuration, each with how to fix what is wrong. It reads files,
 * starts programs with `--version` and the MCP servers that a session would start, and contacts nobody but the proxy.
 */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { configuredAgent } from "../../agent-core/agent/configured-agent.ts";
import { findBrowser } from "../../agent-core/browser/find-browser.ts";
import { type Environment, homeFolder } from "../../agent-core/config/home.ts";
import { terminalProblem, UNUSABLE_BACKEND } from "../../agent-core/config/terminal-section.ts";
import { VERSION } from "../../agent-core/entry/version.ts";
import { usableSandbox } from "../../agent-core/host/terminals/configured-backend.ts";
import { findShell } from "../../agent-core/host/terminals/local-backend.ts";
import { sandboxText } from "../../agent-core/host/terminals/terminals.ts";
import { attempt, codeOf, messageOf } from "../../agent-core/platform/errors.ts";
import { findProgram } from "../../agent-core/platform/find-program.ts";
import {
  networkSettings,
  type ProxyServer,
  proxyFor,
  proxyName,
} from "../../agent-core/platform/http/network-settings.ts";
import { withOwnCommand } from "../../agent-core/platform/own-command.ts";
import { deployments } from "../../agent-core/providers/deployments.ts";
import { type ModelSettings, resolveModel } from "../../agent-core/providers/resolve-model.ts";
import { table as toolTable } from "../../agent-core/tools/table.gen.ts";
import { selectTools } from "../../agent-core/tools/toolsets.ts";
import { type Check, type Diagnosis, type Facts, limited, works } from "./diagnosis.ts";
import { extensionChecks } from "./doctor-extensions.ts";

/** In the order of the report. */
const checks: readonly Check[] = [
  sandbox,
  () => works("shell", findShell().path),
  () => program("ripgrep", ["rg"], "the built-in search is used, which is slower", "install ripgrep"),
  () => program("git", ["git"], "commands of git fail, and checkpoints copy more files", "install git"),
  () => program("python", ["python3", "python"], "commands and skills in Python fail", "install Python 3"),
  browser,
  home,
  disk,
  config,
  tools,
  keys,
  models,
  extensionChecks.mcpServers,
  proxy,
  extensionChecks.hooks,
  extensionChecks.plugins,
  extensionChecks.skills,
  extensionChecks.others,
  versions,
];

const marks = { works: "ok", limited: "!", fails: "FAIL" } as const;

/** Returns the exit code: 1 when something fails. */
export async function printDiagnoses(environment: Environment, cwd: string): Promise<number> {
  const diagnoses = await diagnose(environment, cwd);
  for (const { name, state, text: found, fix } of diagnoses) {
    process.stdout.write(`${marks[state].padEnd(4)}  ${name.padEnd(8)}  ${found}\n`);
    if (fix !== undefined) process.stdout.write(withOwnCommand(`${"".padEnd(16)}To fix it: ${fix}.\n`));
  }
  return diagnoses.some(({ state }) => state === "fails") ? 1 : 0;
}

/** Checks for a session in `cwd` (absolute). */
async function diagnose(environment: Environment, cwd: string): Promise<readonly Diagnosis[]> {
  const configured = await configuredAgent(environment, "cli");
  const all = configured.options.environment;
  const facts: Facts = { configured, environment: all, home: homeFolder(environment), cwd };
  return (await Promise.all(checks.map((check) => check(facts)))).flat();
}

function sandbox({
  configured: {
    config: { terminal },
  },
  cwd,
}: Facts): readonly Diagnosis[] {
  const name = "sandbox";
  if (terminal.backend === UNUSABLE_BACKEND) {
    return [{ name, state: "fails", text: "no command runs, because config.yaml has errors", fix: "correct them" }];
  }
  const problem = terminalProblem(terminal);
  if (problem !== undefined)
    return [{ name, state: "fails", text: problem.replace(/\.$/, ""), fix: "correct it in config.yaml" }];
  if (terminal.backend !== "local") {
    const text = `off: commands run by ${terminal.backend}, without a sandbox of ours`;
    return [{ name, state: "limited", text }];
  }
  const found = usableSandbox(terminal.sandbox, [cwd]);
  if (found.ok) return works(name, sandboxText({ isOn: true, program: found.sandbox.program }));
  const { reason, advice: fix } = found;
  const state = terminal.sandbox === "on" ? "fails" : "limited";
  return [{ name, state, text: sandboxText({ isOn: false, reason, advice: fix }), fix }];
}

function program(name: string, files: readonly string[], without: string, fix: string): readonly Diagnosis[] {
  const path = files.map((file) => findProgram(file)).find((found) => found !== undefined);
  return path === undefined
    ? [{ name, state: "limited", text: `not found on PATH: ${without}`, fix }]
    : works(name, path);
}

function browser({ configured }: Facts): readonly Diagnosis[] {
  const { executable } = configured.options.browser ?? {};
  const path = findBrowser(executable);
  if (path !== undefined) return works("browser", path);
  const [what, fix] =
    executable === undefined
      ? ["no Chrome, Chromium or Edge found", "install one, or set browser.executable in config.yaml"]
      : [`browser.executable ${executable} is not a program`, "correct it in config.yaml"];
  return [{ name: "browser", state: "limited", text: `${what}: the browser tools are not offered`, fix }];
}

function home({ home: folder }: Facts): readonly Diagnosis[] {
  const existing = nearestFolder(folder);
  const name = "home";
  if (!statSync(existing).isDirectory()) {
    return [{ name, state: "fails", text: `${existing} is a file`, fix: "set HERMES_HOME to a folder" }];
  }
  if (!mayUse(existing, constants.W_OK)) {
    const isMissing = existing !== folder;
    const text = `${isMissing ? `${folder} cannot be created: ` : ""}${existing} is not writable`;
    const fix = isMissing ? "set HERMES_HOME to a folder of your user" : `allow your user to write ${existing}`;
    return [{ name, state: "fails", text, fix }];
  }
  const file = join(folder, ".env");
  const isOpen = process.platform !== "win32" && existsSync(file) && (statSync(file).mode & 0o077) !== 0;
  if (isOpen) return [{ name, state: "limited", text: `${file} is open to other users`, fix: `run chmod 600 ${file}` }];
  return works(name, existing === folder ? folder : `${folder}, created when it is needed`);
}

/** The folder, or its deepest existing parent. */
function nearestFolder(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearestFolder(dirname(folder));
}

function mayUse(path: string, mode: number): boolean {
  return attempt(() => accessSync(path, mode) ?? true) === true;
}

/** Journals and checkpoints of a few sessions. Bytes. */
const LITTLE_SPACE = 500_000_000;
/** Less than one long turn writes. Bytes. */
const NO_SPACE = 10_000_000;

async function disk({ home: folder }: Facts): Promise<readonly Diagnosis[]> {
  const { bavail, bsize } = await statfs(nearestFolder(folder));
  const free = bavail * bsize;
  const text = `${Math.round(free / 1e6).toLocaleString("en")} MB free for the home`;
  if (free >= LITTLE_SPACE) return works("disk", text);
  return [{ name: "disk", state: free < NO_SPACE ? "fails" : "limited", text, fix: `free space for ${folder}` }];
}

function config({ configured: { warnings, errors }, home: folder }: Facts): readonly Diagnosis[] {
  const name = "config";
  const path = join(folder, "config.yaml");
  if (warnings.length + errors.length === 0)
    return works(name, existsSync(path) ? path : `no ${path}; the defaults apply`);
  const fix = `correct it in ${path}`;
  const wrong = errors.map((text): Diagnosis => ({ name, state: "fails", text, fix }));
  return [...wrong, ...limited(name, warnings, `it in ${path}`)];
}

function tools({ configured: { options } }: Facts): readonly Diagnosis[] {
  const name = "tools";
  const { enabledToolsets: enabled, disabledToolsets: disabled } = options;
  const chosen = selectTools(toolTable, { ...(enabled && { enabled }), ...(disabled && { disabled }) });
  if (chosen.ok) return works(name, `${chosen.tools.length} of ${toolTable.length}`);
  return [{ name, state: "fails", text: chosen.message, fix: "correct the toolsets in config.yaml" }];
}

function keys({ environment }: Facts): readonly Diagnosis[] {
  const known = ["HERMES_API_KEY", ...deployments.map(({ keyVariable }) => keyVariable)];
  const set = [...new Set(known)].filter((variable) => variable !== undefined && environment[variable]);
  return works(
    "keys",
    set.length === 0 ? "none set; a local server and the offline interpreter need none" : set.join(", "),
  );
}

function models({ configured: { options }, environment }: Facts): readonly Diagnosis[] {
  const auxiliary = Object.entries(options.auxiliary ?? {}).flatMap(([task, { chain }]) =>
    chain.map((settings) => otherModel(`auxiliary.${task}`, settings, environment)),
  );
  const fallbacks = (options.fallbacks ?? []).map((settings) =>
    otherModel("fallback_providers", settings, environment),
  );
  return [...mainModel(environment), ...fallbacks.flat(), ...auxiliary.flat()];
}

function mainModel(environment: Environment): readonly Diagnosis[] {
  const resolution = resolveModel({}, environment);
  const name = "model";
  if (!resolution.ok) return [{ name, state: "fails", text: resolution.message, fix: "run hermes setup" }];
  const { mode, model, endpoint } = resolution.model;
  if (mode === "offline") return works(name, "none: the built-in offline interpreter answers");
  const { provider, baseUrl } = endpoint;
  const at = baseUrl === undefined ? "" : ` at ${baseUrl}`;
  return works(name, withOwnCommand(`${model} of ${provider}${at}, not contacted; hermes acp --check asks it`));
}

/** A model that cannot be used is skipped. */
function otherModel(setting: string, settings: ModelSettings, environment: Environment): readonly Diagnosis[] {
  const resolution = resolveModel(settings, environment);
  return resolution.ok ? [] : limited("model", [`${setting}: ${resolution.message}`], "it in config.yaml");
}

/** Any address outside this machine shows the proxy. */
const ELSEWHERE = new URL("https://api.openai.com/");

const NO_PROXY = "none; scripts that choose a proxy (PAC) are not read, only network.proxy, http.proxy and HTTPS_PROXY";

async function proxy({ environment }: Facts): Promise<readonly Diagnosis[]> {
  const name = "proxy";
  const settings = networkSettings(environment);
  const missing = settings.caFiles.filter((file) => !mayUse(file, constants.R_OK));
  if (missing.length > 0) {
    const text = `certificates cannot be read: ${missing.join(", ")}`;
    return [{ name, state: "fails", text, fix: "correct network.ca_file or NODE_EXTRA_CA_CERTS" }];
  }
  try {
    const found = proxyFor(ELSEWHERE, settings);
    if (found !== undefined) await reach(found);
    const text = found === undefined ? NO_PROXY : proxyName(found);
    const unchecked = `${text}; no certificate is checked`;
    if (settings.strictSsl) return works(name, text);
    return [{ name, state: "limited", text: unchecked, fix: "set network.strict_ssl to true" }];
  } catch (error) {
    const fix = "start the proxy, or correct network.proxy or HTTPS_PROXY";
    return [{ name, state: "fails", text: messageOf(error), fix }];
  }
}

/** A proxy is near. */
const PROXY_TIMEOUT_MS = 3_000;

/** Rejects when the proxy accepts no connection. */
async function reach(proxy: ProxyServer): Promise<void> {
  const { hostname, port, protocol } = proxy.url;
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const socket = connect({ host, port: Number(port) || (protocol === "https:" ? 443 : 80) });
  try {
    await once(socket, "connect", { signal: AbortSignal.timeout(PROXY_TIMEOUT_MS) });
  } catch (error) {
    const reason =
      codeOf(error) === "ABORT_ERR"
        ? `no answer within ${PROXY_TIMEOUT_MS / 1000} s`
        : (codeOf(error) ?? messageOf(error));
    throw new Error(`${proxyName(proxy)} cannot be reached (${reason}): no request leaves this machine`);
  } finally {
    socket.destroy();
  }
}

const run = promisify(execFile);
/** Limit for a program that prints its version. */
const VERSION_TIMEOUT_MS = 2_000;

async function versions(): Promise<readonly Diagnosis[]> {
  const programs = (await Promise.all(["git", "rg", "python3"].map(versionOf))).filter((text) => text !== undefined);
  return works("versions", [`Hermes ${VERSION}`, `Node.js ${process.versions.node}`, ...programs].join(", "));
}

/** Name and version as the program prints them; undefined for a program that is missing or fails. */
async function versionOf(file: string): Promise<string | undefined> {
  const path = findProgram(file);
  if (path === undefined) return undefined;
  const output = await run(path, ["--version"], { timeout: VERSION_TIMEOUT_MS }).catch(() => undefined);
  return output?.stdout.split("\n", 1)[0]?.replace(" version", "").trim();
}
