/** Sections of config.yaml about models: the conversation's, their providers, and those of other tasks. */
import * as z from "zod";
import { group, setting } from "./setting.ts";

export const seconds = z.number().positive();
export const text = z.string().min(1);

/** A single name stands for a list with that name. */
export const names = z.union([z.array(text), text.transform((name) => [name])]);

const API_MODE =
  "API of the endpoint: `chat_completions`, `codex_responses` or `anthropic_messages`. Default: by the address.";
const DIALECT = "Service behind a proxy's address: `deepseek`, `kimi`, `gemini`, `cohere` or `mistral`.";
const KEY_ENV = "Name of the environment variable with the key.";

/** The section may also be the model's name alone. */
export const modelSection = z.preprocess(
  (raw) => (typeof raw === "string" ? { name: raw } : raw),
  group({
    default: setting("The provider's name of the model.", z.string().optional(), "qwen3:8b"),
    name: setting("The same as `default`.", z.string().optional()),
    provider: setting("Name of a known provider, or of one in `providers`.", z.string().optional(), "ollama"),
    base_url: setting("Address of the endpoint.", z.string().optional(), "http://127.0.0.1:11434/v1"),
    api_mode: setting(API_MODE, z.string().optional()),
    dialect: setting(DIALECT, z.string().optional()),
    api_key: setting("Key of the endpoint. `.env` of the home is the better place.", z.string().optional()),
    context_length: setting(
      "Tokens of the model's context, for an endpoint that does not list them.",
      z.number().int().min(1_024).optional(),
      131_072,
    ),
    supports_vision: setting("`true` for a model that accepts pictures.", z.boolean().optional()),
    temperature: setting("Sampling temperature.", z.number().min(0).max(2).optional(), 0.2),
    top_p: setting("Nucleus sampling.", z.number().positive().max(1).optional()),
    max_tokens: setting("Maximum number of output tokens of an answer.", z.number().int().positive().optional(), 8_192),
    stop: setting("Texts that end an answer.", names.optional()),
  }).optional(),
);

/** Endpoint of the user, or settings of a known provider. */
const providerSection = group({
  base_url: setting("Address of the endpoint.", text.optional(), "http://10.0.0.5:8000/v1"),
  api_key: setting("Key of the endpoint. `.env` of the home is the better place.", text.optional()),
  key_env: setting(KEY_ENV, text.optional(), "MY_PROVIDER_KEY"),
  api_mode: setting(API_MODE, text.optional()),
  dialect: setting(DIALECT, text.optional()),
  text_calls: setting(
    "`off`: tool calls and thoughts that a model writes as text stay text.",
    z.enum(["on", "off"]).optional(),
  ),
  stale_timeout_seconds: setting(
    "Seconds of silence that end a stream, before its first event too. Default: 600, on a private network 1,800.",
    seconds.optional(),
  ),
  extra_body: setting(
    "Further fields in the body of chat completions requests.",
    z.record(z.string(), z.unknown()).optional(),
    { top_k: 40 },
  ),
});

export const providers = z.record(z.string(), providerSection).default({});

const modelEntry = {
  provider: setting("Name of a known provider, or of one in `providers`.", text.optional(), "openrouter"),
  model: setting("The provider's name of the model.", text.optional(), "deepseek/deepseek-chat"),
  base_url: setting("Address of the endpoint.", text.optional()),
  api_key: setting("Key of the endpoint.", text.optional()),
  key_env: setting(KEY_ENV, text.optional()),
  api_mode: setting(API_MODE, text.optional()),
  dialect: setting(DIALECT, text.optional()),
};

const modelGroup = group(modelEntry);

/** Model in `fallback_providers`, `auxiliary` and their chains. */
export type ModelEntry = z.output<typeof modelGroup>;

export const fallbackProviders = z.array(modelGroup).default([]);

const auxiliarySection = group({
  ...modelEntry,
  timeout: setting("Timeout of the task in seconds. Default: 30 to 120, by task.", seconds.optional(), 60),
  fallback_chain: setting("Models that follow when this one fails, in order.", z.array(modelGroup).default([])),
});

/** Tasks that may have a model of their own (agent/auxiliary-models.ts). */
const auxiliaryTasks = {
  compression: auxiliarySection,
  title_generation: auxiliarySection,
  approval: auxiliarySection,
  flush_memories: auxiliarySection,
  background_review: auxiliarySection,
  mcp: auxiliarySection,
  evaluation: auxiliarySection,
  commit_message: auxiliarySection,
  web_extract: auxiliarySection,
  vision: auxiliarySection,
  consolidation: auxiliarySection,
  distillation: auxiliarySection,
};

export type AuxiliaryTask = keyof typeof auxiliaryTasks;

/** The names of the tasks stay as in the file. */
export const auxiliary = z.object(auxiliaryTasks).partial().default({});
