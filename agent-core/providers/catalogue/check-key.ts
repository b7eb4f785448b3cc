/** Checks a key at its endpoint: by a lookup that requires it, or by the shortest possible request. */
import type { Deployment } from "../deployments.ts";
import { endpointUrl, type Place } from "../endpoint-request.ts";
import type { Fault } from "../fault.ts";
import { streamModel } from "../stream-model.ts";
import type { Endpoint } from "../wire/wire.ts";
import { askEndpoint } from "./ask-endpoint.ts";
import { type ListedModel, listModels } from "./listing.ts";

export type KeyCheck =
  /** `models` is undefined when the endpoint has no list. */
  | { readonly ok: true; readonly models: readonly ListedModel[] | undefined }
  | { readonly ok: false; readonly fault: Fault };

/** Limit of the whole check, since a person is waiting. */
const CHECK_TIMEOUT_MS = 15_000;
/** Smallest answer that all APIs accept. */
const FEWEST_TOKENS = 16;

export async function checkKey(deployment: Deployment, endpoint: Endpoint): Promise<KeyCheck> {
  const signal = AbortSignal.timeout(CHECK_TIMEOUT_MS);
  const place: Place = { mode: deployment.mode, endpoint };
  if (deployment.keyCheckPath !== undefined) {
    const answer = await askEndpoint(place, endpointUrl(place, deployment.keyCheckPath), { signal });
    if (!answer.ok) return answer;
  }
  const listing = await listModels(place, signal);
  if (listing.ok) return listing;
  const isSilent = listing.fault.status === 404 || listing.fault.status === 405 || listing.fault.kind === "malformed";
  const model = deployment.defaultModel;
  return isSilent && model !== undefined ? askOneWord(place, model, signal) : listing;
}

async function askOneWord({ mode, endpoint }: Place, model: string, signal: AbortSignal): Promise<KeyCheck> {
  const request = {
    endpoint,
    model,
    messages: [{ role: "user", content: "Say yes." }],
    tools: [],
    sampling: { maxTokens: FEWEST_TOKENS },
  } as const;
  for await (const event of streamModel(request, mode, signal)) {
    if (event.type === "fault") return { ok: false, fault: event.fault };
  }
  return { ok: true, models: undefined };
}
