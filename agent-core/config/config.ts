/**
 * `config.yaml` and `.env` of the home folder. A home of the original Hermes Agent is read as it is: keys that are not
 * ours are left alone; a known key with a wrong value is reported, and its default holds.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import type * as z from "zod";
import { messageOf } from "../platform/errors.ts";
import type { Environment } from "./home.ts";
import { type Config, fallbacks, type SectionName, sections } from "./sections.ts";
import { withVariables } from "./variables.ts";

export type LoadedConfig = {
  readonly config: Config;
  /** The process environment over the home's `.env`. */
  readonly environment: Environment;
  /** One line for people for each thing that could not be used. */
  readonly warnings: readonly string[];
};

/** Reads the home's configuration. Never fails: what cannot be read is a warning and its defaults hold. */
export async function loadConfig(home: string, environment: Environment): Promise<LoadedConfig> {
  const warnings: string[] = [];
  const fileEnvironment = readEnvironmentFile(join(home, ".env"), warnings);
  const merged = { ...fileEnvironment, ...environment };
  const raw = await readYaml(join(home, "config.yaml"), warnings);
  return { config: parseConfig(raw, merged, warnings), environment: merged, warnings };
}

/** Checks each section on its own, so that one wrong value does not cost the others. */
function parseConfig(raw: Record<string, unknown>, environment: Environment, warnings: string[]): Config {
  const names = Object.keys(sections) as SectionName[]; // of a literal: its own keys
  const entries = names.map((name) => [name, readSection(name, raw[name] ?? undefined, environment, warnings)]);
  return Object.fromEntries(entries) as Config; // each value comes from the schema under its own name
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
  const text = readIfThere(path, warnings);
  return text === undefined ? {} : parseEnv(text);
}

async function readYaml(path: string, warnings: string[]): Promise<Record<string, unknown>> {
  const text = readIfThere(path, warnings);
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

function readIfThere(path: string, warnings: string[]): string | undefined {
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
