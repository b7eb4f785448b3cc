/** Services that search the web. Each is an entry of a table: its request, and the reading of its answer. */
import * as z from "zod";
import { messageOf } from "../platform/errors.ts";
import { httpFetch } from "../platform/http/http-fetch.ts";
import { redact } from "../providers/redact.ts";
import { SEARCH_VARIABLES, type SearchBackendName, type SearchChoice } from "./web-access.ts";

export type SearchHit = { readonly title: string; readonly url: string; readonly snippet: string };

export type Found =
  | { readonly ok: true; readonly hits: readonly SearchHit[] }
  | { readonly ok: false; readonly text: string };

type Query = { readonly query: string; readonly limit: number; readonly key: string };
type Backend = {
  /** Public address. A setting replaces it for other hosts. */
  readonly base: string;
  /** Path of the request with its query; without a body it is a GET. */
  readonly path: (query: Query) => string;
  readonly headers?: (query: Query) => Readonly<Record<string, string>>;
  readonly body?: (query: Query) => unknown;
  /** Throws for an answer of another form. */
  readonly read: (text: string) => readonly SearchHit[];
};

/** A search that takes longer is not worth its wait. Milliseconds. */
const MAX_MS = 20_000;
/** Longer texts of a hit are cut. Characters. */
const SNIPPET_CHARS = 500;

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? "");
const hit = z.object({
  title: text,
  url: z.string(),
  content: text,
  description: text,
  highlights: z.array(text).nullish(),
});
const hits = z.array(hit).transform((all) =>
  all.map(
    ({ title, url, content, description, highlights }): SearchHit => ({
      title,
      url,
      snippet: content || description || (highlights ?? []).join(" … "),
    }),
  ),
);
const results = z.object({ results: hits }).transform((answer) => answer.results);
const web = z.object({ web: z.object({ results: hits }).nullish() }).transform((answer) => answer.web?.results ?? []);
const data = z
  .object({ data: z.union([hits, z.object({ web: hits.nullish() }).transform((found) => found.web ?? [])]) })
  .transform((answer) => answer.data);

const bearer = ({ key }: Query): Readonly<Record<string, string>> => ({ authorization: `Bearer ${key}` });
const json = (schema: z.ZodType<readonly SearchHit[]>) => (body: string) => schema.parse(JSON.parse(body));

const backends: Readonly<Record<SearchBackendName, Backend>> = {
  searxng: {
    base: "http://127.0.0.1:8080",
    path: ({ query }) => `/search?${new URLSearchParams({ q: query, format: "json" })}`,
    read: json(results),
  },
  brave: {
    base: "https://api.search.brave.com",
    path: ({ query, limit }) => `/res/v1/web/search?${new URLSearchParams({ q: query, count: String(limit) })}`,
    headers: ({ key }) => ({ "x-subscription-token": key }),
    read: json(web),
  },
  tavily: {
    base: "https://api.tavily.com",
    path: () => "/search",
    headers: bearer,
    body: ({ query, limit }) => ({ query, max_results: limit }),
    read: json(results),
  },
  exa: {
    base: "https://api.exa.ai",
    path: () => "/search",
    headers: ({ key }) => ({ "x-api-key": key }),
    body: ({ query, limit }) => ({ query, numResults: limit, contents: { highlights: true } }),
    read: json(results),
  },
  firecrawl: {
    base: "https://api.firecrawl.dev",
    path: () => "/v2/search",
    headers: bearer,
    body: ({ query, limit }) => ({ query, limit }),
    read: json(data),
  },
  "duckduckgo-html": {
    base: "https://html.duckduckgo.com",
    path: ({ query }) => `/html/?${new URLSearchParams({ q: query })}`,
    headers: () => ({ "user-agent": "Mozilla/5.0 (compatible; hermes)" }),
    read: readDuckDuckGo,
  },
};

/** At most `limit` hits. Rejects only with the reason of `signal`. */
export async function searchWeb(
  choice: SearchChoice,
  { query, limit }: Pick<Query, "query" | "limit">,
  signal: AbortSignal,
): Promise<Found> {
  const { backend: name, baseUrl, key = "" } = choice;
  const backend = backends[name];
  const request = { query, limit, key };
  const timeout = AbortSignal.timeout(MAX_MS);
  try {
    const response = await httpFetch(`${(baseUrl ?? backend.base).replace(/\/+$/, "")}${backend.path(request)}`, {
      method: backend.body === undefined ? "GET" : "POST",
      headers: {
        accept: "application/json, text/html",
        ...backend.headers?.(request),
        ...(backend.body !== undefined && { "content-type": "application/json" }),
      },
      ...(backend.body !== undefined && { body: JSON.stringify(backend.body(request)) }),
      signal: AbortSignal.any([signal, timeout]),
    });
    const body = await response.text();
    if (!response.ok) return failure(name, `answered ${response.status}: ${redact(plain(body), [key]).slice(0, 200)}`);
    const found = backend.read(body).filter(({ url }) => /^https?:\/\//.test(url));
    const hits = found.map((one) => ({
      ...one,
      title: plain(one.title),
      snippet: plain(one.snippet).slice(0, SNIPPET_CHARS),
    }));
    return { ok: true, hits: hits.slice(0, limit) };
  } catch (error) {
    signal.throwIfAborted();
    if (timeout.aborted) return failure(name, `did not answer within ${MAX_MS / 1_000} s`);
    const isForeign = error instanceof z.ZodError || error instanceof SyntaxError;
    return failure(name, isForeign ? "gave an answer of an unknown form" : redact(messageOf(error), [key]));
  }
}

function failure(name: SearchBackendName, reason: string): Found {
  const variable = SEARCH_VARIABLES[name];
  const hint = /^answered 40[13]/.test(reason) && variable !== undefined ? ` Check ${variable}.` : "";
  return { ok: false, text: `The search service ${name} failed: ${reason.replace(/\.?$/, ".")}${hint}` };
}

/** The page for browsers without scripts. It has no results either when the service takes the client for a robot. */
function readDuckDuckGo(html: string): readonly SearchHit[] {
  if (/class="[^"]*\banomaly/.test(html)) throw new Error("the service asks for a human (too many searches)");
  const snippets = [...html.matchAll(/class="result__snippet"[^>]*>(.{0,5000}?)<\/(?:a|div)>/gs)];
  return [...html.matchAll(/<a\b([^>]{0,3000}class="result__a"[^>]{0,3000})>(.{0,2000}?)<\/a>/gs)].map(
    ({ 1: attributes = "", 2: title = "", index }) => {
      const address = plain(/href="([^"]*)"/.exec(attributes)?.[1] ?? "");
      const target = URL.canParse(address, "https://duckduckgo.com")
        ? new URL(address, "https://duckduckgo.com")
        : undefined;
      const url = target?.searchParams.get("uddg") ?? target?.href ?? "";
      return { title, url, snippet: snippets.find((snippet) => snippet.index > index)?.[1] ?? "" };
    },
  );
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };

/** Text without markup and entities, in one line. */
function plain(html: string): string {
  return html
    .replaceAll(/<[^<>]{0,1000}>/g, "")
    .replaceAll(
      /&(?:#(\d{1,6})|#x([\da-f]{1,5})|(\w{2,6}));/gi,
      (all, decimal?: string, hex?: string, name?: string) => {
        const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
        return name === undefined
          ? String.fromCodePoint(Math.min(code, 0x10_ffff))
          : (ENTITIES[name.toLowerCase()] ?? all);
      },
    )
    .replaceAll(/\s+/g, " ")
    .trim();
}
