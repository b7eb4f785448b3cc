/** The model in use, as the config option that editors show. */
import type { SessionConfigOption } from "@zed-industries/agent-client-protocol";

/** Name of the built-in model; it is never passed off as a language model. */
const OFFLINE = "offline";

export function modelOption(model: string): SessionConfigOption {
  const name = model === OFFLINE ? "Offline (not a language model)" : model;
  return {
    type: "select",
    id: "model",
    name: "Model",
    category: "model",
    currentValue: model,
    options: [{ value: model, name }],
  };
}
