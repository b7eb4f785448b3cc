/** Schemas of the sections of config.yaml, with the names of the original Hermes Agent. */
import * as z from "zod";
import { terminalSection, UNUSABLE_TERMINAL } from "./terminal-config.ts";

/** Iterations of one turn; long tasks need dozens, and a runaway turn must end. */
const DEFAULT_MAX_TURNS = 90;

const seconds = z.number().positive();
const text = z.string().min(1);
const share = z.number().min(0.05).max(1);

const modelSection = z.object({
  /** The provider's name of the model. */
  default: z.string().optional(),
  name: z.string().optional(),
  provider: z.string().optional(),
  base_url: z.string().optional(),
  api_mode: z.string().optional(),
  api_key: z.string().optional(),
});

/** Endpoint of the user, or settings of a known provider. */
const providerSection = z.object({
  base_url: text.optional(),
  api_key: text.optional(),
  /** Name of the environment variable with the key. */
  key_env: text.optional(),
  api_mode: text.optional(),
  /** Idle timeout of a stream; default 60. */
  stale_timeout_seconds: seconds.optional(),
});

const modelEntry = z.object({
  provider: text.optional(),
  model: text.optional(),
  base_url: text.optional(),
  api_key: text.optional(),
  key_env: text.optional(),
  api_mode: text.optional(),
});

/** Model for a task outside the conversation: titles, compression, approvals. */
const auxiliarySection = modelEntry.extend({
  /** Timeout of the task; default 30. */
  timeout: seconds.optional(),
  fallback_chain: z.array(modelEntry).default([]),
});

export const sections = {
  model: z.union([z.string().transform((name) => ({ name })), modelSection]).optional(),
  agent: z
    .object({
      // The original writes null for the default.
      max_turns: z
        .number()
        .int()
        .positive()
        .nullish()
        .transform((turns) => turns ?? DEFAULT_MAX_TURNS),
      disabled_toolsets: z.array(z.string()).default([]),
      reasoning_effort: z.enum(["minimal", "low", "medium", "high"]).optional(),
    })
    .default({ max_turns: DEFAULT_MAX_TURNS, disabled_toolsets: [] }),
  /** Engine that keeps the conversation within its window; `compressor` is the original's name for `default`. */
  context: z.object({ engine: z.enum(["default", "compressor", "none"]).default("default") }).prefault({}),
  /** Limits are shares of the model's window (context/context-engine.ts). */
  compression: z
    .object({
      enabled: z.boolean().default(true),
      threshold: share.default(0.5),
      soft_limit: share.default(0.7),
      hard_limit: share.default(0.85),
      target: share.default(0.5),
      strategy: z.enum(["summary", "recency", "importance", "hybrid"]).default("summary"),
    })
    .prefault({}),
  /** Memory across sessions; limits in characters. */
  memory: z
    .object({
      memory_enabled: z.boolean().default(true),
      memory_char_limit: z.number().int().positive().default(2_200),
      user_char_limit: z.number().int().positive().default(1_375),
    })
    .prefault({}),
  approvals: z.object({ mode: z.enum(["manual", "smart", "off"]).default("manual") }).default({ mode: "manual" }),
  terminal: terminalSection,
  toolsets: z.array(z.string()).optional(),
  platform_toolsets: z.record(z.string(), z.array(z.string())).default({}),
  providers: z.record(z.string(), providerSection).default({}),
  fallback_providers: z.array(modelEntry).default([]),
  auxiliary: z.record(z.string(), auxiliarySection).default({}),
};

export type SectionName = keyof typeof sections;

export type Config = { readonly [Name in SectionName]: z.output<(typeof sections)[Name]> };

/** Model in `fallback_providers`, `auxiliary` and their chains. */
export type ModelEntry = z.output<typeof modelEntry>;

/** Replacements for invalid sections whose default would be wrong. */
export const fallbacks: { readonly [Name in SectionName]?: Config[Name] } = { terminal: UNUSABLE_TERMINAL };
