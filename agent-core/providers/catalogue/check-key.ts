/** Tries a key where it will be used: by a look-up that only a good key is answered, or by the shortest request there is. */
import type { Deployment } from "../deployments.ts";
import type { Fault } from "../fault.ts";
import { streamModel } from "../stream-model.ts";
import type { Endpoint } from "../wire/wire.ts";
import { askEndpoint, type Place } from "./ask-endpoint.ts";
import { listModels } from "./list-models.ts";
import type { ListedModel } from "./listing.ts";

export type KeyCheck =
  /** `models` is undefined when the endpoint does not list them. */
  | { readonly ok: true; readonly models: readonly ListedModel[] | undefined }
  | { readonly ok: false; readonly fault: Fault };

/** For the whole check. Somebody waits for it. */
const CHECK_TIMEOUT_MS = 15_000;
/** Some APIs refuse to answer in fewer. */
const FEWEST_TOKENS = 16;

export async function checkKey(deployment: Deployment, endpoint: Endpoint): Promise<KeyCheck> {
  const signal = AbortSignal.timeout(CHECK_TIMEOUT_MS);
  const place: Place = { mode: deployment.mode, endpoint };
  if (deployment.keyCheckPath !== undefined) {
    const answer = await askEndpoint(place, `${endpoint.baseUrl}${deployment.keyCheckPath}`, { signal });
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
