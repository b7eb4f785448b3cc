/** Where our agent says that a message of the user's stands: `_meta.hermes.position`. */

/** Undefined for agents that do not say it. */
export function positionIn(meta: Readonly<Record<string, unknown>> | null | undefined): number | undefined {
  const hermes = meta?.["hermes"];
  if (typeof hermes !== "object" || hermes === null || !("position" in hermes)) return undefined;
  return typeof hermes.position === "number" ? hermes.position : undefined;
}
