/** What local servers tell of a model only when they are asked for it: the context they really give it. */
import * as z from "zod";
import { llamacpp, lmstudio, ollama } from "../deployments.ts";
import type { ModelFacts } from "../model-info.ts";
import type { ResolvedModel } from "../resolve.ts";
import { askEndpoint } from "./ask-endpoint.ts";
import { parseListing } from "./listing.ts";

const DETAILS_TIMEOUT_MS = 2_000;

const tokens = z.number().int().positive().optional().catch(undefined);

const ollamaSchema = z.object({
  /** Lines such as `num_ctx 8192`. */
  parameters: z.string().catch(""),
  /** `qwen3.context_length` and the like. */
  model_info: z.record(z.string(), z.unknown()).catch({}),
  capabilities: z.array(z.string()).optional().catch(undefined),
});

const llamacppSchema = z.object({
  default_generation_settings: z.object({ n_ctx: tokens }).optional().catch(undefined),
  modalities: z.object({ vision: z.boolean().optional() }).optional().catch(undefined),
});

type Details = {
  readonly path: string;
  /** POSTed; undefined: it is a GET. */
  readonly body?: (model: string) => unknown;
  facts(answer: unknown, model: string): ModelFacts | undefined;
};

const details: Readonly<Record<string, Details>> = {
  [ollama.name]: { path: "/api/show", body: (model) => ({ model }), facts: ollamaFacts },
  [llamacpp.name]: { path: "/props", facts: llamacppFacts },
  [lmstudio.name]: {
    path: "/api/v0/models",
    facts: (answer, model) => parseListing(answer)?.find(({ id }) => id === model)?.facts,
  },
};

/** Undefined when the server is no local one, or does not tell. */
export async function localDetails({ mode, endpoint, model }: ResolvedModel): Promise<ModelFacts | undefined> {
  const { provider, baseUrl } = endpoint;
  const place = Object.hasOwn(details, provider) ? details[provider] : undefined;
  if (place === undefined || baseUrl === undefined) return undefined;
  const url = `${baseUrl.replace(/\/v1\/?$/, "")}${place.path}`;
  const signal = AbortSignal.timeout(DETAILS_TIMEOUT_MS);
  const answer = await askEndpoint({ mode, endpoint }, url, {
    signal,
    ...(place.body && { body: place.body(model) }),
  });
  return answer.ok ? place.facts(answer.body, model) : undefined;
}

/** A window that its user set stands over what the model could have. */
function ollamaFacts(answer: unknown): ModelFacts | undefined {
  const shown = ollamaSchema.safeParse(answer).data;
  if (shown === undefined) return undefined;
  const [, set] = /^num_ctx\s+(\d+)/m.exec(shown.parameters) ?? [];
  const possible = Object.entries(shown.model_info).find(([key]) => key.endsWith(".context_length"))?.[1];
  const contextWindow = tokens.parse(set === undefined ? possible : Number(set));
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
