/** Reads an endpoint's list of models in all its variants. */
import * as z from "zod";
import type { Place } from "../endpoint-request.ts";
import type { Fault } from "../fault.ts";
import { type ModelFacts, type ModelPrice, modelFacts } from "../model-info.ts";
import { askEndpoint, modelsUrl } from "./ask-endpoint.ts";

/** `name`: for people; undefined when it equals the id. */
export const listedModel = z.object({
  id: z.string(),
  name: z.string().exactOptional(),
  facts: modelFacts.exactOptional(),
});
export type ListedModel = z.infer<typeof listedModel>;

/** Limit of kept models. */
const MAX_MODELS = 3_000;
const PER_MILLION = 1_000_000;

/** Models of OpenAI-like lists that cannot chat. */
const NOT_CHAT =
  /embed|whisper|(^|[-/])tts|dall-e|moderation|transcri|(^|[-/])(audio|realtime|image|sora|babbage|davinci)|-(audio|realtime|image|search)(-|$)|rerank|stable-diffusion/i;

const tokens = z.number().int().positive().optional().catch(undefined);
const words = z.string().min(1).optional().catch(undefined);
const dollars = z.coerce.number().nonnegative().optional().catch(undefined);

const modelSchema = z.object({
  id: z.string().min(1).max(200),
  name: words,
  /** Anthropic. */
  display_name: words,
  type: words,
  /** Context: OpenRouter, vLLM, LM Studio (loaded before possible), llama.cpp in `meta`. */
  context_length: tokens,
  max_model_len: tokens,
  loaded_context_length: tokens,
  max_context_length: tokens,
  meta: z.object({ n_ctx: tokens }).optional().catch(undefined),
  top_provider: z.object({ max_completion_tokens: tokens }).optional().catch(undefined),
  architecture: z
    .object({ input_modalities: z.array(z.string()) })
    .optional()
    .catch(undefined),
  supported_parameters: z.array(z.string()).optional().catch(undefined),
  /** Dollars per token, as text. */
  pricing: z.object({ prompt: dollars, completion: dollars, input_cache_read: dollars }).optional().catch(undefined),
});

const listSchema = z.object({ data: z.array(z.unknown()) });

type RawModel = z.infer<typeof modelSchema>;

/** Chat models of a list; undefined when `answer` is not a list. Unreadable entries are skipped. */
export function parseListing(answer: unknown): readonly ListedModel[] | undefined {
  const list = listSchema.safeParse(answer).data?.data;
  if (list === undefined) return undefined;
  const models = list.slice(0, MAX_MODELS).flatMap((entry) => {
    const model = modelSchema.safeParse(entry).data;
    return model === undefined || NOT_CHAT.test(model.id) || model.type === "embeddings" ? [] : [listed(model)];
  });
  return [...new Map(models.map((model) => [model.id, model])).values()];
}

function listed(model: RawModel): ListedModel {
  const name = model.name ?? model.display_name;
  const facts = factsOf(model);
  return {
    id: model.id,
    ...(name !== undefined && name !== model.id && { name }),
    ...(Object.keys(facts).length > 0 && { facts }),
  };
}

function factsOf(model: RawModel): ModelFacts {
  const {
    context_length: possible,
    max_model_len: served,
    loaded_context_length: loaded,
    max_context_length: max,
  } = model;
  const contextWindow = possible ?? served ?? loaded ?? max ?? model.meta?.n_ctx;
  const maxOutputTokens = model.top_provider?.max_completion_tokens;
  const modalities = model.architecture?.input_modalities;
  const parameters = model.supported_parameters;
  const price = priceOf(model.pricing);
  return {
    ...(contextWindow !== undefined && { contextWindow }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(modalities !== undefined && { images: modalities.includes("image") }),
    ...(model.type === "vlm" && { images: true }),
    ...(parameters !== undefined && { reasoning: parameters.includes("reasoning") }),
    ...(price !== undefined && { price }),
  };
}

function priceOf(pricing: RawModel["pricing"]): ModelPrice | undefined {
  const { prompt, completion, input_cache_read: cached } = pricing ?? {};
  if (prompt === undefined || completion === undefined) return undefined;
  return {
    input: perMillion(prompt),
    output: perMillion(completion),
    cachedInput: perMillion(cached ?? prompt),
  };
}

/** Rounded, because prices per token are not exact in binary. */
function perMillion(price: number): number {
  return Math.round(price * PER_MILLION * 10_000) / 10_000;
}

export type Listing =
  | { readonly ok: true; readonly models: readonly ListedModel[] }
  | { readonly ok: false; readonly fault: Fault };

/** Limit of the background request. */
const LISTING_TIMEOUT_MS = 8_000;

/** Requests the list of models. `signal` ends the request early. */
export async function listModels(place: Place, signal?: AbortSignal): Promise<Listing> {
  const limit = AbortSignal.timeout(LISTING_TIMEOUT_MS);
  const answer = await askEndpoint(place, modelsUrl(place), {
    signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
  });
  if (!answer.ok) return answer;
  const models = parseListing(answer.body);
  if (models !== undefined) return { ok: true, models };
  const message = `${place.endpoint.provider} answered with something other than a list of models. Check the base URL.`;
  return { ok: false, fault: { kind: "malformed", message } };
}
