import { expect, test } from "vitest";
import { pollForTokens } from "../../../../agent-core/platform/http/device-grant.ts";

/** Polls an issuer that gives these errors, "" for a failed connection, and then the tokens. */
async function poll(...errors: string[]) {
  const waits: number[] = [];
  const clock = {
    wait: async (ms: number) => void waits.push(ms / 1_000),
    monotonicNow: () => waits.reduce((sum, seconds) => sum + seconds * 1_000, 0),
  };
  const request = async (): Promise<string> => {
    const error = errors.shift();
    if (error === undefined) return "tokens";
    throw new Error(error);
  };
  const codeOf = (error: unknown) => (error as Error).message || undefined;
  const timing = { seconds: 100, interval: 3, slowerBy: 5 };
  const end = pollForTokens({ request, codeOf, ...timing }, new AbortController().signal, clock);
  return { end: await end.catch(String), waits };
}

test("the issuer sets the interval of the polls, and a failed connection doubles it", async () => {
  expect(await poll("authorization_pending", "slow_down")).toEqual({ end: "tokens", waits: [3, 3, 8] });
  expect(await poll("", "authorization_pending")).toEqual({ end: "tokens", waits: [3, 6, 6] });
});

test.each([
  ["access_denied", "Error: the request was refused on the page"],
  ["expired_token", "Error: the code has expired"],
  ["invalid_client", "Error: invalid_client"],
])("the error %s ends the polls", async (error, end) => {
  expect(await poll(error)).toEqual({ end, waits: [3] });
});

test("the polls end with the code", async () => {
  const { end } = await poll(...Array.from({ length: 40 }, () => "authorization_pending"));
  expect(end).toBe("Error: nobody entered the code in time");
});
