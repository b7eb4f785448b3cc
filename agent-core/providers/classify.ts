/** From whatever a wire threw to a fault. */
import { readErrorSigns } from "./error-signs.ts";
import type { Fault } from "./fault.ts";
import { faultKindOf } from "./fault-rules.ts";
import { faultSentence } from "./fault-sentence.ts";
import { refusedParameter } from "./refused-parameter.ts";
import type { ModelRequest } from "./wire/wire.ts";

/** Never throws, and its message never holds a key. */
export function classify(error: unknown, { endpoint, model }: Pick<ModelRequest, "endpoint" | "model">): Fault {
  const signs = readErrorSigns(error, Date.now());
  const { status, retryAfterMs, detail } = signs;
  const known = faultKindOf(signs);
  const parameter = known === "unsupported-parameter" ? refusedParameter(signs) : undefined;
  const kind = known === "unsupported-parameter" && parameter === undefined ? "bad-request" : known;
  return {
    kind,
    message: faultSentence({ kind, endpoint, model, status, retryAfterMs, detail }),
    ...(status !== undefined && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(parameter !== undefined && { parameter }),
  };
}

/** The fault of a stream that stopped without its last event, or of an answer with nothing in it. */
export function faultOf(
  kind: "cut-off" | "empty",
  { endpoint, model }: Pick<ModelRequest, "endpoint" | "model">,
): Fault {
  return { kind, message: faultSentence({ kind, endpoint, model, detail: "" }) };
}
