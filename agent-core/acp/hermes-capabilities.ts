/** Extensions of ACP that a client declares. */
import type { ClientCapabilities } from "@zed-industries/agent-client-protocol";
import { HermesClientCapabilities } from "../protocol/capabilities.ts";
import { readMeta } from "../protocol/meta.ts";

/** None for a client that is not ours. */
export function hermesCapabilities({ _meta: meta }: ClientCapabilities): HermesClientCapabilities {
  return readMeta(HermesClientCapabilities, meta) ?? {};
}
