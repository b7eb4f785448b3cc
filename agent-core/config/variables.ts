/** `${NAME}` and `${NAME:-default}` in the values of config.yaml, so that it can be shared without its secrets. */
import type { Environment } from "./home.ts";

const REFERENCE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

/** The same value with its references replaced; one that names nothing stays, and `onMissing` is told of it. */
export function withVariables(value: unknown, environment: Environment, onMissing: (name: string) => void): unknown {
  if (typeof value === "string") {
    return value.replace(REFERENCE, (reference, name: string, otherwise: string | undefined) => {
      const found = environment[name] || otherwise;
      if (found === undefined) onMissing(name);
      return found ?? reference;
    });
  }
  if (Array.isArray(value)) return value.map((item) => withVariables(item, environment, onMissing));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, withVariables(item, environment, onMissing)]);
  return Object.fromEntries(entries);
}
