/**
 * `config.yaml` and `.env` of the home folder. A home of the original Hermes Agent is read as it is: keys that are not
 * ours are left alone; a known key with a wrong value is reported, and its default holds.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import * as z from "zod";
import type { Environment } from "./home.ts";
import { terminalSection, UNUSABLE_TERMINAL } from "./terminal-config.ts";

/** Iterations of one turn; behaviour.md §AIAgent, Budget. */
const DEFAULT_MAX_TURNS = 90;

const modelSection = z.object({
  /** Model name as the provider knows it. */
  default: z.string().optional(),
  name: z.string().optional(),
  provider: z.string().optional(),
  base_url: z.string().optional(),
  api_mode: z.string().optional(),
  api_key: z.string().optional(),
});

const sections = {
  model: z.union([z.string().transform((name) => ({ name })), modelSection]).optional(),
  agent: z
    .object({
      // The original writes null for "no limit of its own".
      max_turns: z
        .number()
        .int()
        .positive()
        .nullish()
        .transform((turns) => turns ?? DEFAULT_MAX_TURNS),
      disabled_toolsets: z.array(z.string()).default([]),
    })
    .default({ max_turns: DEFAULT_MAX_TURNS, disabled_toolsets: [] }),
  approvals: z.object({ mode: z.enum(["manual", "smart", "off"]).default("manual") }).default({ mode: "manual" }),
  terminal: terminalSection,
  toolsets: z.array(z.string()).optional(),
  platform_toolsets: z.record(z.string(), z.array(z.string())).default({}),
};

type SectionName = keyof typeof sections;

/** What holds instead of a section that cannot be used, where its default would be wrong. */
const fallbacks: Partial<Record<SectionName, unknown>> = { terminal: UNUSABLE_TERMINAL };

export type Config = { readonly [Name in SectionName]: z.output<(typeof sections)[Name]> };

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
  const raw = await readYaml(join(home, "config.yaml"), warnings);
  return {
    config: parseConfig(raw, warnings),
    environment: { ...fileEnvironment, ...environment },
    warnings,
  };
}

/** Checks each section on its own, so that one wrong value does not cost the others. */
function parseConfig(raw: Record<string, unknown>, warnings: string[]): Config {
  const read = <Name extends SectionName>(name: Name): Config[Name] => {
    const schema: z.ZodType = sections[name];
    const parsed = schema.safeParse(raw[name] ?? undefined);
    if (!parsed.success) {
      const problems = parsed.error.issues.map((issue) => `${[name, ...issue.path].join(".")}: ${issue.message}`);
      warnings.push(
        `config.yaml: ${problems.join("; ")}. ${name in fallbacks ? "It is not used" : "The default is used"}.`,
      );
    }
    const value = parsed.success ? parsed.data : (fallbacks[name] ?? schema.parse(undefined));
    return value as Config[Name]; // the schema of this very section made it
  };
  return {
    model: read("model"),
    agent: read("agent"),
    approvals: read("approvals"),
    terminal: read("terminal"),
    toolsets: read("toolsets"),
    platform_toolsets: read("platform_toolsets"),
  };
}

function readEnvironmentFile(path: string, warnings: string[]): Environment {
  const text = readIfThere(path, warnings);
  return text === undefined ? {} : parseEnv(text);
}

async function readYaml(path: string, warnings: string[]): Promise<Record<string, unknown>> {
  const text = readIfThere(path, warnings);
  if (text === undefined || text.trim() === "") return {};
  const { default: yaml } = await import("yaml"); // a CommonJS module has no named exports in the bundle
  try {
    const value: unknown = yaml.parse(text);
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
  return (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "";
}
