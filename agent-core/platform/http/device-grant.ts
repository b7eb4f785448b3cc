/** Polling for the tokens of a sign-in with a code that the user types on any device (RFC 8628). */
import { type Clock, systemClock } from "../clock.ts";

export const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

/** Longest interval between two polls. Seconds. */
const MAX_INTERVAL = 60;

export type DevicePoll<Tokens> = {
  /** Rejects while there are no tokens. */
  readonly request: () => Promise<Tokens>;
  /** Code of an OAuth error; undefined for a failure that a later poll may not meet. */
  readonly codeOf: (error: unknown) => string | undefined;
  /** Time until the code expires. Seconds. */
  readonly seconds: number;
  /** Time between two polls. Seconds. */
  readonly interval: number;
  /** Growth of the interval when the issuer asks for fewer polls. Seconds. */
  readonly slowerBy: number;
};

/** Polls until the user has answered. Rejects when the user refuses, and when the code has expired. */
export async function pollForTokens<Tokens>(
  { request, codeOf, seconds, slowerBy, ...poll }: DevicePoll<Tokens>,
  signal: AbortSignal,
  clock: Pick<Clock, "wait" | "monotonicNow"> = systemClock,
): Promise<Tokens> {
  const end = clock.monotonicNow() + seconds * 1_000;
  let interval = Math.max(1, poll.interval);
  while (clock.monotonicNow() < end) {
    await clock.wait(interval * 1_000, signal);
    try {
      return await request();
    } catch (error) {
      signal.throwIfAborted();
      interval = intervalAfter(error, codeOf(error), { interval, slowerBy });
    }
  }
  throw new Error("nobody entered the code in time");
}

/** Seconds until the next poll. Throws when there is none. */
function intervalAfter(
  error: unknown,
  code: string | undefined,
  { interval, slowerBy }: { readonly interval: number; readonly slowerBy: number },
): number {
  switch (code) {
    case undefined:
      return Math.min(interval * 2, MAX_INTERVAL); // the issuer may be busy
    case "authorization_pending":
      return interval;
    case "slow_down":
      return Math.min(interval + slowerBy, MAX_INTERVAL);
    case "access_denied":
      throw new Error("the request was refused on the page");
    case "expired_token":
      throw new Error("the code has expired");
    default:
      throw error;
  }
}
