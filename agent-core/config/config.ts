/**
 * Reads `config.yaml` and `.env` of the home folder, also those of an original Hermes Agent: unknown keys are ignored. A
 * known key with a wrong value causes a warning, and its default applies.
 */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import type * as z from "zod";
import { messageOf } from "../platform/errors.ts";
import type { Environment } from "./home.ts";
import { type Config, fallbacks, type SectionName, sections } from "./sections.ts";

/** `${NAME}` and `${NAME:-default}` in a value, so that a config can be shared without its secrets. */
const REFERENCE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

export type LoadedConfig = {
  readonly config: Config;
  /** Variables of the process, and those of the home's `.env` that the process has not. */
  readonly environment: Environment;
  /** One line for people for each value that was not used. */
  readonly warnings: readonly string[];
};

/** Reads the home's configuration. Never fails: an unreadable file causes a warning, and the defaults apply. */
export async function loadConfig(home: string, environment: Environment): Promise<LoadedConfig> {
  const warnings: string[] = [];
  const fileEnvironment = readEnvironmentFile(join(home, ".env"), warnings);
  const merged = { ...fileEnvironment, ...environment };
  const raw = await readYaml(join(home, "config.yaml"), warnings);
  return { config: parseConfig(raw, merged, warnings), environment: merged, warnings };
}

/** Parses each section by itself, so that a wrong value does not affect the others. */
function parseConfig(raw: Record<string, unknown>, environment: Environment, warnings: string[]): Config {
  const names = Object.keys(sections) as SectionName[]; // a literal has no other keys
  const entries = names.map((name) => [name, readSection(name, raw[name] ?? undefined, environment, warnings)]);
  return Object.fromEntries(entries) as Config; // each value comes from the schema of its name
}

function readSection(name: SectionName, raw: unknown, environment: Environment, warnings: string[]): unknown {
  const schema: z.ZodType = sections[name];
  const missing = (variable: string): void => {
    warnings.push(`config.yaml: ${name} refers to \${${variable}}, which is not set.`);
  };
  const parsed = schema.safeParse(withVariables(raw, environment, missing));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${[name, ...issue.path].join(".")}: ${issue.message}`);
  const isRefused = name in fallbacks;
  warnings.push(`config.yaml: ${problems.join("; ")}. ${isRefused ? "It is not used" : "The default is used"}.`);
  return isRefused ? fallbacks[name] : schema.parse(undefined);
}

function readEnvironmentFile(path: string, warnings: string[]): Environment {
  const text = readIfExists(path, warnings);
  return text === undefined ? {} : parseEnv(text);
}

async function readYaml(path: string, warnings: string[]): Promise<Record<string, unknown>> {
  const text = readIfExists(path, warnings);
  if (text === undefined || text.trim() === "") return {};
  const { parseYaml } = await import("./yaml.ts");
  try {
    const value = parseYaml(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
    warnings.push(`${path} is not a mapping of settings; defaults are used.`);
  } catch (error) {
    warnings.push(`${path} is not valid YAML (${firstLine(error)}); defaults are used.`);
  }
  return {};
}

function readIfExists(path: string, warnings: string[]): string | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    warnings.push(`${path} could not be read (${firstLine(error)}); defaults are used.`);
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
