import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { searchWeb } from "../../../agent-core/web/search-backends.ts";
import { chooseSearch, type SearchBackendName } from "../../../agent-core/web/web-access.ts";

let server: Server;
let baseUrl: string;
let requests: { method: string; url: string; headers: IncomingMessage["headers"]; body: string }[];
let answer: (response: ServerResponse) => void;

beforeEach(async () => {
  requests = [];
  server = createServer(async (request, response) => {
    const { method = "", url = "", headers } = request;
    requests.push({ method, url, headers, body: await text(request) });
    answer(response);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => {
  server.close();
  server.closeAllConnections();
});

const search = (backend: SearchBackendName, query = "node streams", limit = 2) =>
  searchWeb({ backend, baseUrl, key: "test-key-12345" }, { query, limit }, new AbortController().signal);

const HITS = [
  { title: "Stream | Node.js", url: "https://nodejs.org/api/stream.html", snippet: "How to work with streams." },
  { title: "Second", url: "https://example.com/second", snippet: "More." },
];
const result = ({ title, url, snippet }: (typeof HITS)[number], name: string) => ({ title, url, [name]: snippet });
const third = { title: "Third", url: "https://example.com/3", snippet: "" };

/** Formats of the answers, each with its public description. */
const FORMATS: readonly {
  readonly backend: SearchBackendName;
  readonly request: { readonly method: string; readonly url: string };
  readonly header?: readonly [string, string];
  readonly body?: unknown;
  readonly answer: string;
}[] = [
  {
    // https://docs.searxng.org/dev/search_api.html
    backend: "searxng",
    request: { method: "GET", url: "/search?q=node+streams&format=json" },
    answer: JSON.stringify({ query: "node streams", results: [...HITS, third].map((hit) => result(hit, "content")) }),
  },
  {
    // https://api-dashboard.search.brave.com/app/documentation/web-search/responses
    backend: "brave",
    request: { method: "GET", url: "/res/v1/web/search?q=node+streams&count=2" },
    header: ["x-subscription-token", "test-key-12345"],
    answer: JSON.stringify({
      type: "search",
      web: {
        type: "search",
        results: HITS.map((hit) => ({ ...result(hit, "description"), title: `<strong>${hit.title}</strong>` })),
      },
    }),
  },
  {
    // https://docs.tavily.com/documentation/api-reference/endpoint/search
    backend: "tavily",
    request: { method: "POST", url: "/search" },
    header: ["authorization", "Bearer test-key-12345"],
    body: { query: "node streams", max_results: 2 },
    answer: JSON.stringify({ answer: null, results: HITS.map((hit) => ({ ...result(hit, "content"), score: 0.9 })) }),
  },
  {
    // https://docs.exa.ai/reference/search
    backend: "exa",
    request: { method: "POST", url: "/search" },
    header: ["x-api-key", "test-key-12345"],
    body: { query: "node streams", numResults: 2, contents: { highlights: true } },
    answer: JSON.stringify({
      results: HITS.map(({ title, url, snippet }) => ({ id: url, title, url, highlights: [snippet] })),
    }),
  },
  {
    // https://docs.firecrawl.dev/features/search
    backend: "firecrawl",
    request: { method: "POST", url: "/v2/search" },
    header: ["authorization", "Bearer test-key-12345"],
    body: { query: "node streams", limit: 2 },
    answer: JSON.stringify({ success: true, data: { web: HITS.map((hit) => result(hit, "description")) } }),
  },
  {
    // https://html.duckduckgo.com/html/, the page for browsers without scripts
    backend: "duckduckgo-html",
    request: { method: "GET", url: "/html/?q=node+streams" },
    answer: HITS.map(
      ({ title, url, snippet }) => `<div class="result results_links web-result"><h2 class="result__title">
        <a rel="nofollow" class="result__a" href="//duckduckgo.com/l/?uddg=${encodeURIComponent(url)}&amp;rut=1">${title.replace("|", "&#124;")}</a></h2>
        <a class="result__snippet" href="x">${snippet.replace("streams", "<b>streams</b>")}</a></div>`,
    ).join("\n"),
  },
];

test.each(FORMATS)(
  "$backend: sends the query and reads the hits",
  async ({ backend, request, header, body, answer: sent }) => {
    answer = (response) => void response.end(sent);
    expect(await search(backend)).toEqual({ ok: true, hits: HITS });
    expect(requests).toMatchObject([request]);
    if (header !== undefined) expect(requests[0]?.headers[header[0]]).toBe(header[1]);
    expect(requests[0]?.body).toBe(body === undefined ? "" : JSON.stringify(body));
  },
);

test("a service that fails is named in one line, without the key", async () => {
  answer = (response) => void response.writeHead(401).end('{"error": "the key test-key-12345 is unknown"}');
  const refused = await search("brave");
  expect(refused).toMatchObject({
    ok: false,
    text: expect.stringMatching(/brave failed: answered 401.*Check BRAVE_SEARCH_API_KEY/),
  });
  expect(JSON.stringify(refused)).not.toContain("12345");
  answer = (response) => void response.end("<html>maintenance</html>");
  expect(await search("tavily")).toMatchObject({
    text: "The search service tavily failed: gave an answer of an unknown form.",
  });
  answer = (response) => void response.end('<div class="anomaly-modal__title">Unfortunately, bots …</div>');
  expect(await search("duckduckgo-html")).toMatchObject({ text: expect.stringContaining("too many searches") });
});

test("hits with other schemes are left out, and hits without a title stay", async () => {
  const hits = [
    { url: "javascript:alert(1)" },
    { url: "https://example.com/", title: null, content: `${"a".repeat(900)}` },
  ];
  answer = (response) => void response.end(JSON.stringify({ results: hits }));
  expect(await search("searxng")).toEqual({
    ok: true,
    hits: [{ title: "", url: "https://example.com/", snippet: "a".repeat(500) }],
  });
});

test("a cancel rejects with its reason", async () => {
  const cancel = new AbortController();
  answer = () => cancel.abort(new Error("stopped"));
  const searching = searchWeb({ backend: "searxng", baseUrl }, { query: "x", limit: 1 }, cancel.signal);
  await expect(searching).rejects.toThrow("stopped");
});

test.each([
  [{}, {}, undefined],
  [{}, { TAVILY_API_KEY: "t", EXA_API_KEY: "e" }, { backend: "tavily", key: "t" }],
  [
    {},
    { SEARXNG_URL: "http://localhost:8888", TAVILY_API_KEY: "t" },
    { backend: "searxng", baseUrl: "http://localhost:8888" },
  ],
  [{ backend: "exa" }, { TAVILY_API_KEY: "t", EXA_API_KEY: "e" }, { backend: "exa", key: "e" }],
  [{ backend: "ddgs" }, {}, { backend: "duckduckgo-html" }],
  [
    { backend: "firecrawl" },
    { FIRECRAWL_API_KEY: "f", FIRECRAWL_API_URL: "http://own" },
    { backend: "firecrawl", baseUrl: "http://own", key: "f" },
  ],
])("settings %j with the variables %j choose %j", (settings, environment, expected) => {
  const { choice, warning } = chooseSearch(settings, environment);
  expect(warning).toBeUndefined();
  if (expected === undefined) expect(choice).toBeUndefined();
  else expect(choice).toMatchObject(expected);
});

test("a wrong name and a missing key are reported", () => {
  expect(chooseSearch({ backend: "gogle" }, {})).toMatchObject({
    choice: undefined,
    warning: expect.stringContaining("is not one of searxng, brave"),
  });
  expect(chooseSearch({ backend: "brave" }, {})).toMatchObject({
    warning: expect.stringContaining("needs the environment variable BRAVE_SEARCH_API_KEY"),
  });
});
