/** From whatever a wire threw to a fault. */
import { readErrorSigns } from "./error-signs.ts";
import type { Fault } from "./fault.ts";
import { faultKindOf } from "./fault-rules.ts";
import { faultSentence } from "./fault-sentence.ts";
import type { ModelRequest } from "./wire/wire.ts";

/** Never throws, and its message never holds a key. */
export function classify(error: unknown, { endpoint, model }: Pick<ModelRequest, "endpoint" | "model">): Fault {
  const signs = readErrorSigns(error, Date.now());
  const { status, retryAfterMs, detail } = signs;
  const kind = faultKindOf(signs);
  return {
    kind,
    message: faultSentence({ kind, endpoint, model, status, retryAfterMs, detail }),
    ...(status !== undefined && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

/** The fault of a stream that stopped without its last event. */
export function cutOff({ endpoint, model }: Pick<ModelRequest, "endpoint" | "model">): Fault {
  return { kind: "cut-off", message: faultSentence({ kind: "cut-off", endpoint, model, detail: "" }) };
}
