/** Reading of caught values, which can be anything. */

/** Error of the caller, such as a name that does not exist. The message is one line for the user. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Message of an error; any other value as text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The result; undefined when `make` throws. */
export function attempt<Result>(make: () => Result): Result | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

/** System error code, such as `ENOENT`; undefined for values without one. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error && "code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** True for an error that carries one of these system error codes. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  const code = codeOf(error);
  return code !== undefined && codes.includes(code);
}
