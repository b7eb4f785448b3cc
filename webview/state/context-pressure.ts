/** How near the model's window is to being full: `_meta.hermes.contextPressure` of our agent. */
import { hermesField, type Meta } from "./hermes-meta.ts";

export type ContextPressure = "low" | "high" | "full";

/** `low` from who does not tell. */
export function pressureIn(meta: Meta): ContextPressure {
  const level = hermesField(meta, "contextPressure");
  return level === "high" || level === "full" ? level : "low";
}
