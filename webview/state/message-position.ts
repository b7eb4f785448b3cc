/** Where our agent says that a message of the user's stands: `_meta.hermes.position`. */
import { hermesField, type Meta } from "./hermes-meta.ts";

/** Undefined for agents that do not say it. */
export function positionIn(meta: Meta): number | undefined {
  const position = hermesField(meta, "position");
  return typeof position === "number" ? position : undefined;
}
