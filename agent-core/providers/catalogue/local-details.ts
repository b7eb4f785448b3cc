/** Facts that a server on this machine gives per model, such as the window that the model was loaded with. */
import * as z from "zod";
import { llamacpp, lmstudio, ollama } from "../deployments.ts";
import type { ModelFacts } from "../model-info.ts";
import type { ResolvedModel } from "../resolve-model.ts";
import { askEndpoint } from "./ask-endpoint.ts";
import { parseListing } from "./listing.ts";

const DETAILS_TIMEOUT_MS = 2_000;

const positiveInteger = z.number().int().positive().optional().catch(undefined);

const ollamaSchema = z.object({
  /** Lines such as `num_ctx 8192`. */
  parameters: z.string().catch(""),
  /** `qwen3.context_length` and the like. */
  model_info: z.record(z.string(), z.unknown()).catch({}),
  capabilities: z.array(z.string()).optional().catch(undefined),
});

const ollamaRunningSchema = z.object({
  models: z.array(z.object({ name: z.string(), context_length: positiveInteger })),
});

const llamacppSchema = z.object({
  default_generation_settings: z.object({ n_ctx: positiveInteger }).optional().catch(undefined),
  modalities: z.object({ vision: z.boolean().optional() }).optional().catch(undefined),
});

type Details = {
  readonly path: string;
  /** Body of a POST. Undefined: a GET. */
  readonly body?: (model: string) => object;
  facts(answer: unknown, model: string): ModelFacts | undefined;
};

/** Later facts override earlier ones. */
const details: Readonly<Record<string, readonly Details[]>> = {
  [ollama.name]: [
    { path: "/api/show", body: (model) => ({ model }), facts: ollamaFacts },
    { path: "/api/ps", facts: ollamaRunningFacts },
  ],
  [llamacpp.name]: [{ path: "/props", facts: llamacppFacts }],
  [lmstudio.name]: [
    {
      path: "/api/v0/models",
      facts: (answer, model) => parseListing(answer)?.find(({ id }) => id === model)?.facts,
    },
  ],
};

/** Facts that a local server gives per model, such as the real context. Undefined for other servers and without an answer. */
export async function localDetails({ mode, endpoint, model }: ResolvedModel): Promise<ModelFacts | undefined> {
  const { provider, baseUrl } = endpoint;
  const places = Object.hasOwn(details, provider) ? details[provider] : undefined;
  if (places === undefined || baseUrl === undefined) return undefined;
  const signal = AbortSignal.timeout(DETAILS_TIMEOUT_MS);
  const found = await Promise.all(
    places.map(async ({ path, body, facts }) => {
      const url = `${baseUrl.replace(/(?:\/v1)?\/*$/, "")}${path}`;
      const answer = await askEndpoint({ mode, endpoint }, url, { signal, ...(body && { body: body(model) }) });
      return answer.ok ? facts(answer.body, model) : undefined;
    }),
  );
  return found.every((facts) => facts === undefined) ? undefined : Object.assign({}, ...found);
}

/** Window of a loaded model. Without `OLLAMA_CONTEXT_LENGTH` it is often 4,096, and Ollama cuts longer prompts silently. */
function ollamaRunningFacts(answer: unknown, model: string): ModelFacts | undefined {
  const running = ollamaRunningSchema.safeParse(answer).data?.models;
  const contextWindow = running?.find(({ name }) => name === model || name === `${model}:latest`)?.context_length;
  return contextWindow === undefined ? undefined : { contextWindow };
}

/** The user's `num_ctx` overrides the model's maximum. */
function ollamaFacts(answer: unknown): ModelFacts | undefined {
  const shown = ollamaSchema.safeParse(answer).data;
  if (shown === undefined) return undefined;
  const [, set] = /^num_ctx\s+(\d+)/m.exec(shown.parameters) ?? [];
  const possible = Object.entries(shown.model_info).find(([key]) => key.endsWith(".context_length"))?.[1];
  const contextWindow = positiveInteger.parse(set === undefined ? possible : Number(set));
  const { capabilities } = shown;
  return {
    ...(contextWindow !== undefined && { contextWindow }),
    ...(capabilities !== undefined && {
      images: capabilities.includes("vision"),
      reasoning: capabilities.includes("thinking"),
    }),
  };
}

function llamacppFacts(answer: unknown): ModelFacts | undefined {
  const shown = llamacppSchema.safeParse(answer).data;
  if (shown === undefined) return undefined;
  const contextWindow = shown.default_generation_settings?.n_ctx;
  const vision = shown.modalities?.vision;
  return {
    ...(contextWindow !== undefined && { contextWindow }),
    ...(vision !== undefined && { images: vision }),
  };
}
