import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ProviderError, requestEndpoint } from "../../../agent-core/providers/endpoint-request.ts";

const CHAT = "/chat/completions";
const VERSIONED_CHAT = "/v1/chat/completions";

/** Statuses of the server by path. It answers with the path, and with `missing` to all others. */
let statuses: Readonly<Record<string, number>> = {};
let missing = "Not Found";
const server = createServer(({ url = "" }, response) => {
  const status = statuses[url] ?? 404;
  response.writeHead(status).end(status === 404 ? missing : url);
});

beforeEach(async () => {
  missing = "Not Found";
  await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
});
afterEach(() => new Promise((done) => void server.close(done)));

/** The path that answered, or the status of the error. */
async function answerOf(path: string): Promise<unknown> {
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const place = { mode: "chat_completions", endpoint: { provider: "custom", baseUrl } } as const;
  try {
    const response = await requestEndpoint(place, baseUrl + path, { signal: new AbortController().signal });
    return await response.text();
  } catch (error) {
    return error instanceof ProviderError ? error.status : error;
  }
}

describe("an address without the version of the API", () => {
  test("gets it for those paths alone that need it", async () => {
    statuses = { [CHAT]: 200, "/v1/models": 200 };
    for (const path of ["/v1/models", CHAT, "/v1/models", CHAT])
      expect(await answerOf(path.replace("/v1", ""))).toBe(path);
  });

  test("is asked again when the versioned one went away", async () => {
    statuses = { [VERSIONED_CHAT]: 200 };
    expect(await answerOf(CHAT)).toBe(VERSIONED_CHAT);
    statuses = { [CHAT]: 200 };
    expect(await answerOf(CHAT)).toBe(CHAT);
  });

  test.each([401, 405])("keeps its own answers when the versioned one answers %i to everything", async (status) => {
    missing = "There is no model m.";
    statuses = { [VERSIONED_CHAT]: status };
    expect(await answerOf(CHAT)).toBe(404);
    statuses = { ...statuses, [CHAT]: 200 };
    expect(await answerOf(CHAT)).toBe(CHAT);
    missing = "Not Found";
    statuses = { [VERSIONED_CHAT]: status };
    expect(await answerOf(CHAT), "a root that is known to work").toBe(404);
  });

  test("passes a refused key on when only the versioned one exists", async () => {
    statuses = { [VERSIONED_CHAT]: 401 };
    expect(await answerOf(CHAT)).toBe(401);
  });
});
