/** One JSON lookup at a model endpoint. Errors become faults. */
import { endpointUrl, type Place, requestEndpoint } from "../endpoint-request.ts";
import type { Fault } from "../fault.ts";

export type EndpointAnswer =
  | { readonly ok: true; readonly body: unknown }
  | { readonly ok: false; readonly fault: Fault };

/** Sends GET, or POST with `body`. */
export async function askEndpoint(
  place: Place,
  url: string,
  init: { readonly signal: AbortSignal; readonly body?: object },
): Promise<EndpointAnswer> {
  try {
    const response = await requestEndpoint(place, url, init);
    return { ok: true, body: await response.json() };
  } catch (error) {
    const { classify } = await import("../classify.ts");
    return { ok: false, fault: classify(error, { endpoint: place.endpoint, model: "its models" }) };
  }
}

/** URL of the endpoint's list of models. */
export function modelsUrl(place: Place): string {
  const url = endpointUrl(place, "/models");
  return place.mode === "anthropic_messages" ? `${url}?limit=1000` : url;
}
