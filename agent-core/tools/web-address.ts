/** Addresses of the web in the arguments of tools, for the approval. */
import type { Effect } from "../approval/decision.ts";
import type { guardedFetch } from "../web/guarded-fetch.ts";
import type { ToolContext } from "./tool.ts";

export function fetchEffect(addresses: readonly string[]): Effect {
  return {
    kind: "fetch",
    sent: addresses,
    places: [...new Set(addresses.map((address) => URL.parse(address)?.host ?? address))],
  };
}

/** Fetches an address under the rules of the session. The modules are loaded with the first address. */
export async function fetchAddress(
  address: string,
  { web, signal }: ToolContext,
  accept?: string,
): ReturnType<typeof guardedFetch> {
  const [{ guardedFetch: fetchGuarded }, { addressGuard }] = await Promise.all([
    import("../web/guarded-fetch.ts"),
    import("../web/address-guard.ts"),
  ]);
  const guard = addressGuard(web?.allowsPrivate ?? false);
  return fetchGuarded(address, { guard, signal, ...(accept !== undefined && { accept }) });
}
