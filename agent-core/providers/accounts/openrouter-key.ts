/** A key from OpenRouter by its page in the browser (OAuth with PKCE). */
import { createHash, randomBytes } from "node:crypto";
import * as z from "zod";
import { abortable } from "../../platform/deadline.ts";
import { httpFetch } from "../../platform/http/http-fetch.ts";
import { listenForRedirect } from "../../platform/http/loopback-redirect.ts";
import { parseJson } from "../../platform/json.ts";
import { oneLine } from "../../platform/one-line.ts";
import { openrouter } from "../deployments.ts";

/** Timeout for a user who has left the page. Milliseconds. */
const ANSWER_MS = 300_000;

export type OpenRouterSignIn = {
  readonly open: (page: string) => Promise<void>;
  /** Code or address that the user pastes because the browser is on another machine. Default: never. */
  readonly pasted?: Promise<string>;
  /** Address of the API. Default: OpenRouter's. */
  readonly baseUrl?: string | undefined;
  readonly signal: AbortSignal;
};

/** Rejects with an Error in one line, and with the signal's reason when it is aborted. */
export async function requestOpenRouterKey({
  open,
  pasted = new Promise<never>(() => undefined),
  baseUrl = openrouter.baseUrl ?? "",
  signal,
}: OpenRouterSignIn): Promise<string> {
  const waiting = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
  const site = new URL(baseUrl);
  const verifier = randomBytes(48).toString("base64url");
  // OpenRouter echoes no state, so the path of the callback is the secret.
  const redirect = await listenForRedirect({ path: `/${randomBytes(24).toString("base64url")}` });
  try {
    const page = new URL("/auth", site);
    page.searchParams.set("callback_url", redirect.url);
    page.searchParams.set("code_challenge", createHash("sha256").update(verifier).digest("base64url"));
    page.searchParams.set("code_challenge_method", "S256");
    await abortable(open(page.href), waiting);
    const answered = redirect.answer.then((url) => url.searchParams.get("code") ?? "");
    const code = await abortable(Promise.race([answered, pasted.then(codeIn)]), waiting);
    if (code === "") throw new Error("OpenRouter sent no code");
    const key = await exchange(
      new URL(`${site.pathname.replace(/\/+$/, "")}/auth/keys`, site),
      code,
      verifier,
      waiting,
    );
    redirect.close("Hermes has its key from OpenRouter. You can close this page.");
    return key;
  } catch (error) {
    redirect.close("OpenRouter gave no key. Hermes shows the reason.");
    throw error;
  }
}

/** The code in a pasted address, or the pasted text itself. */
function codeIn(pasted: string): string {
  const text = pasted.trim();
  return URL.canParse(text) ? (new URL(text).searchParams.get("code") ?? "") : text;
}

async function exchange(url: URL, code: string, verifier: string, signal: AbortSignal): Promise<string> {
  const response = await httpFetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code, code_verifier: verifier, code_challenge_method: "S256" }),
    signal,
  });
  const text = await response.text();
  const { data } = z.looseObject({ key: z.string().min(1) }).safeParse(parseJson(text));
  if (response.status < 400 && data !== undefined) return data.key;
  throw new Error(`OpenRouter answered ${response.status}: ${oneLine(text, 200)}`);
}
