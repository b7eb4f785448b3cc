/**
 * Reads `config.yaml` and `.env` of the home folder, also those of an original Hermes Agent. An unknown name and a wrong value
 * cause a warning, and the default applies. If a protection is concerned, the strict value applies.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import type * as z from "zod";
import { messageOf } from "../platform/errors.ts";
import { isRecord } from "../platform/json.ts";
import { readTextSync } from "../platform/text-file.ts";
import { accountFile, type Environment } from "./home.ts";
import { sectionDefault } from "./section-defaults.ts";
import { type Config, type SectionName, sections } from "./sections.ts";
import { camelCase } from "./setting.ts";
import type { Safeguard } from "./setting-names.ts";
import { type TerminalConfig, terminalProblem, UNUSABLE_BACKEND } from "./terminal-section.ts";

/** `${NAME}` and `${NAME:-default}` in a value, so that a config can be shared without its secrets. */
const REFERENCE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

export type LoadedConfig = {
  readonly config: Config;
  /** Settings of config.yaml as they are written there. */
  readonly raw: Readonly<Record<string, unknown>>;
  /** Variables of the process, and those of the home's `.env` that the process has not. */
  readonly environment: Environment;
  /** One line for people for each value that was not used. */
  readonly warnings: readonly string[];
  /** One line for people for each protection that is misspelt or cannot be read. The strict value applies. */
  readonly errors: readonly string[];
};

/** Newest version of the file's format that this program was compared with. */
const CONFIG_VERSION = 50;

/** Reads the home's configuration. Never fails: an unreadable file causes a warning, and the defaults apply. */
export async function loadConfig(home: string, environment: Environment): Promise<LoadedConfig> {
  const warnings: string[] = [];
  const fileEnvironment = readEnvironmentFile(join(home, ".env"), warnings);
  const merged = { ...(await accounts(home)), ...fileEnvironment, ...environment };
  const errors: string[] = [];
  const raw = await readYaml(join(home, "config.yaml"), errors);
  // Without any setting there is nothing to check, and a start does without the names.
  const known = Object.keys(raw).length > 0 ? await import("./setting-names.ts") : undefined;
  const names = known?.checkNames(raw) ?? { warnings: [], errors: [], safeguards: [] };
  // A file that cannot be read may have chosen another machine for commands, or fewer tools.
  const strict = new Set<Safeguard>(errors.length > 0 ? ["commands", "tools"] : names.safeguards);
  const safeguardOf: Reading["safeguardOf"] = (path) => known?.safeguardOf(path)?.name;
  const config = parseConfig(raw, { environment: merged, warnings, strict, safeguardOf });
  warnings.push(...names.warnings);
  const version = config.configVersion ?? 0;
  if (version > CONFIG_VERSION) {
    warnings.push(
      `config.yaml: its format has version ${version}, and this version of Hermes knows ${CONFIG_VERSION}. Newer settings may have no effect.`,
    );
  }
  const { terminal } = config;
  const refusal = terminal.backend === UNUSABLE_BACKEND ? undefined : terminalProblem(terminal);
  if (refusal !== undefined) warnings.push(`config.yaml: ${refusal}`);
  const all = { warnings, errors: [...errors, ...names.errors] };
  return { config: strictConfig(config, strict), raw, environment: merged, ...all };
}

/** Variables of the home's sign-ins. */
async function accounts(home: string): Promise<Environment> {
  return existsSync(accountFile(home)) ? (await import("./account-file.ts")).accountVariables(home) : {};
}

/** Replaces an invalid section: the default would run commands on a machine that the user did not choose. */
function unusableTerminal(): TerminalConfig {
  return { ...sectionDefault("terminal"), backend: UNUSABLE_BACKEND };
}

/** Applies the strict values of the protections that cannot be read. */
function strictConfig(config: Config, strict: ReadonlySet<Safeguard>): Config {
  return {
    ...config,
    ...(strict.has("commands") && { terminal: unusableTerminal() }),
    ...(strict.has("approvals") && { approvals: { mode: "manual", allow: [] } }),
    ...(strict.has("certificates") && { network: { ...config.network, strictSsl: true } }),
    ...(strict.has("tools") && { toolsets: ["safe"], platformToolsets: {} }),
  };
}

type Reading = {
  readonly environment: Environment;
  readonly warnings: string[];
  /** Protections whose value cannot be read. */
  readonly strict: Set<Safeguard>;
  /** Protection that a setting belongs to. */
  readonly safeguardOf: (path: string) => Safeguard | undefined;
};

/** Parses each section separately, so that a wrong value does not affect the others. */
function parseConfig(raw: Record<string, unknown>, reading: Reading): Config {
  const names = Object.keys(sections) as SectionName[]; // a literal has no other keys
  const entries = names.map((name) => [camelCase(name), readSection(name, raw[name], reading)]);
  return Object.fromEntries(entries) as Config; // each value comes from the schema of its name
}

function readSection(
  name: SectionName,
  raw: unknown,
  { environment, warnings, strict, safeguardOf }: Reading,
): unknown {
  const schema: z.ZodType = sections[name];
  const missing = (variable: string): void => {
    warnings.push(`config.yaml: ${name} refers to \${${variable}}, which is not set.`);
  };
  const value = withoutEmpty(withVariables(raw, environment, missing));
  if (value === undefined) return sectionDefault(name);
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const problems = issues.map((issue) => `${[name, ...issue.path].join(".")}: ${issue.message}`);
  const isRefused = name === "terminal";
  warnings.push(`config.yaml: ${problems.join("; ")}. ${isRefused ? "It is not used" : "The default is used"}.`);
  if (isRefused) return unusableTerminal();
  for (const { path } of issues) {
    const safeguard = safeguardOf([name, ...path.slice(0, 1)].join(".")) ?? safeguardOf(name);
    if (safeguard !== undefined) strict.add(safeguard);
  }
  const others = schema.safeParse(withoutKeys(value, new Set(issues.map(({ path }) => path[0]))));
  return others.success ? others.data : sectionDefault(name);
}

function withoutKeys(value: unknown, names: ReadonlySet<PropertyKey | undefined>): unknown {
  if (!isRecord(value)) return undefined;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.has(name)));
}

/** Levels of settings in a section, such as `providers.NAME.api_key`. Deeper values, such as variables, are the user's own. */
const SETTING_LEVELS = 2;

/** Removes empty settings: the original Hermes Agent writes `""` and null for the default. */
function withoutEmpty(value: unknown, levels = SETTING_LEVELS): unknown {
  if (value === null || value === "") return undefined;
  if (typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((item) => (isRecord(item) ? withoutEmpty(item, 1) : item));
  if (levels === 0) return value;
  const entries = Object.entries(value).map(([name, item]) => [name, withoutEmpty(item, levels - 1)] as const);
  return Object.fromEntries(entries.filter(([, item]) => item !== undefined));
}

function readEnvironmentFile(path: string, warnings: string[]): Environment {
  const text = readIfExists(path, (reason) => warnings.push(`${path} could not be read (${reason}). It is not used.`));
  return text === undefined ? {} : parseEnv(text);
}

/** Consequence of a config.yaml that cannot be read. */
const UNREADABLE = "No command runs, and only tools that read are available until this is corrected.";

async function readYaml(path: string, errors: string[]): Promise<Record<string, unknown>> {
  const text = readIfExists(path, (reason) => errors.push(`${path} could not be read (${reason}). ${UNREADABLE}`));
  if (text === undefined || text.trim() === "") return {};
  const { parseYaml } = await import("./yaml.ts");
  try {
    const value = parseYaml(text) ?? {}; // a file of comments is null
    if (isRecord(value)) return { ...value };
    errors.push(`${path} is not a mapping of settings. ${UNREADABLE}`);
  } catch (error) {
    errors.push(`${path} is not valid YAML (${firstLine(error).replace(/:$/, "")}). ${UNREADABLE}`);
  }
  return {};
}

function readIfExists(path: string, onFailure: (reason: string) => void): string | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return readTextSync(path);
  } catch (error) {
    onFailure(firstLine(error));
    return undefined;
  }
}

function firstLine(error: unknown): string {
  return messageOf(error).split("\n", 1)[0] ?? "";
}

/** Replaces the references in a value; a reference to an unset variable stays, and is reported to `onMissing`. */
function withVariables(value: unknown, environment: Environment, onMissing: (name: string) => void): unknown {
  if (typeof value === "string") {
    return value.replace(REFERENCE, (reference, name: string, otherwise: string | undefined) => {
      const found = environment[name] || otherwise;
      if (found === undefined) onMissing(name);
      return found ?? reference;
    });
  }
  if (Array.isArray(value)) return value.map((item) => withVariables(item, environment, onMissing));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, withVariables(item, environment, onMissing)]);
  return Object.fromEntries(entries);
}
