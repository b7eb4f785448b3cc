import * as z from "zod";
import { wrapData } from "../prompt/injection-scan.ts";
import { shortTitle } from "./shown-path.ts";
import { defineTool, type ToolContext, type ToolResult } from "./tool.ts";

const input = z.object({
  query: z.string().trim().min(1).max(400),
  limit: z.int().min(1).max(10).default(5),
});

export const tool = defineTool({
  name: "web_search",
  toolset: "web",
  kind: "fetch",
  readOnly: true,
  description: "Search the web for titles, addresses and snippets.",
  input,
  title: ({ query }) => shortTitle(`Search the web for ${query}`),
  effect: ({ query }) => ({
    kind: "fetch",
    sent: [query],
    places: ["the results of web searches"],
    // The user chose the service.
    isNamed: true,
  }),
  run,
});

async function run({ query, limit }: z.infer<typeof input>, { web, signal }: ToolContext): Promise<ToolResult> {
  if (web?.search === undefined) {
    return {
      ok: false,
      text: "web_search: no search service is configured. The user can set web.backend in config.yaml.",
    };
  }
  const { searchWeb } = await import("../web/search-backends.ts");
  const found = await searchWeb(web.search, { query, limit }, signal);
  if (!found.ok) return { ok: false, text: `web_search: ${found.text}` };
  if (found.hits.length === 0) return { ok: true, text: "Nothing found." };
  const lines = found.hits.map(({ title, url, snippet }, index) => `${index + 1}. ${title}\n   ${url}\n   ${snippet}`);
  const links = found.hits.map(({ title, url }) => ({ title: title || url, url }));
  return { ok: true, text: wrapData("web-results", query, lines.join("\n")), links };
}
