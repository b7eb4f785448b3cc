/** Asks an endpoint which models it has. */
import type { Fault } from "../fault.ts";
import { askEndpoint, modelsUrl, type Place } from "./ask-endpoint.ts";
import { type ListedModel, parseListing } from "./listing.ts";

export type Listing =
  | { readonly ok: true; readonly models: readonly ListedModel[] }
  | { readonly ok: false; readonly fault: Fault };

/** The list comes in the background; nobody waits for it longer than this. */
const LISTING_TIMEOUT_MS = 8_000;

/** `signal` may end it earlier. */
export async function listModels(place: Place, signal?: AbortSignal): Promise<Listing> {
  const limit = AbortSignal.timeout(LISTING_TIMEOUT_MS);
  const answer = await askEndpoint(place, modelsUrl(place), {
    signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
  });
  if (!answer.ok) return answer;
  const models = parseListing(answer.body);
  if (models !== undefined) return { ok: true, models };
  const message = `${place.endpoint.provider} gave no list of models that can be read. Check the base URL.`;
  return { ok: false, fault: { kind: "malformed", message } };
}
