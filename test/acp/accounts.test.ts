import { readFileSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AcpAgent } from "../support/acp-agent.ts";
import type { Json } from "../support/acp-client.ts";
import { type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";

type Answer = readonly [status: number, body: Json];

let model: ModelServer;
let site: Server;
let agent: AcpAgent;
/** Answers of the provider's site by path, in order; the last one repeats. */
let answers: Record<string, Answer[]>;
let asked: { readonly path: string; readonly body: string }[];

beforeEach(async () => {
  model = await startModelServer();
  answers = {};
  asked = [];
  site = createServer(async (request, response) => {
    const path = request.url ?? "";
    asked.push({ path, body: await text(request) });
    const left = answers[path] ?? [];
    const [status, body] = (left.length > 1 ? left.shift() : left[0]) ?? [404, {}];
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
});
afterEach(async () => {
  await agent.stop();
  await model.stop();
  site.close();
});

const address = (): string => `http://127.0.0.1:${(site.address() as AddressInfo).port}`;

/** Starts an agent whose client opens pages with `visit`. */
async function start(environment: Record<string, string>, visit: (page: URL, message: unknown) => unknown) {
  agent = new AcpAgent(environment);
  agent.on("_hermes/editor/open_url", ({ url, message }) => {
    void visit(new URL(String(url)), message);
    return { opened: true };
  });
  return agent.initialize({ _meta: { hermes: { openUrl: true } } });
}

describe("a sign-in to Nous Portal", () => {
  const code = {
    device_code: "device-1",
    user_code: "ABCD-1234",
    verification_uri: "https://portal.example/device",
    verification_uri_complete: "https://portal.example/device?user_code=ABCD-1234",
    expires_in: 600,
    interval: 0.001,
  };

  test("polls until the user has confirmed the code, and the token is the key of each request", async () => {
    answers["/api/oauth/device/code"] = [[200, code]];
    answers["/api/oauth/token"] = [
      [400, { error: "authorization_pending" }],
      [
        200,
        {
          access_token: "token-1",
          refresh_token: "refresh-1",
          expires_in: 30,
          inference_base_url: "https://evil.example/v1",
        },
      ],
      [200, { access_token: "token-2", refresh_token: "refresh-2", expires_in: 3600 }],
    ];
    const pages: unknown[] = [];
    const facts = await start({ HERMES_PORTAL_BASE_URL: address(), NOUS_BASE_URL: model.baseUrl }, (page, message) =>
      pages.push(page.href, message),
    );
    expect(facts["authMethods"]).toContainEqual(expect.objectContaining({ id: "nous" }));
    const answer = await agent.request("authenticate", { methodId: "nous" });
    expect(answer.error).toBeUndefined();
    expect(pages).toEqual([code.verification_uri_complete, "Confirm the code ABCD-1234 on the page of Nous Portal."]);
    expect(asked[0]?.body).toBe("client_id=hermes-cli&scope=inference%3Ainvoke");
    const file = join(agent.home, "auth.json");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const stored = JSON.parse(readFileSync(file, "utf8"));
    expect(stored).toMatchObject({ version: 1, providers: { nous: { access_token: "token-1" } } });
    expect(JSON.stringify(stored)).not.toContain("evil.example");

    // The token ends within two minutes, so it is refreshed before the request.
    model.script(say("hello"));
    const session = await agent.newSession();
    await agent.prompt(session, "hi");
    expect(model.requests[0]?.headers.authorization).toBe("Bearer token-2");
    expect(asked.at(-1)?.body).toContain("refresh_token=refresh-1");
  });

  test("ends with the portal's reason when the user refuses", async () => {
    answers["/api/oauth/device/code"] = [[200, code]];
    answers["/api/oauth/token"] = [[400, { error: "access_denied" }]];
    await start({ HERMES_PORTAL_BASE_URL: address() }, () => undefined);
    const { error } = await agent.request("authenticate", { methodId: "nous" });
    expect(JSON.stringify(error)).toContain("the request was refused on the page");
  });
});

describe("a sign-in to OpenRouter", () => {
  test("stores the key that the page gives for the code, and only answers at the secret path", async () => {
    answers["/api/v1/auth/keys"] = [[200, { key: "sk-or-from-page" }]];
    await start({ OPENROUTER_BASE_URL: `${address()}/api/v1` }, async (page) => {
      const callback = new URL(page.searchParams.get("callback_url") ?? "");
      const stranger = await fetch(new URL("/callback?code=stolen", callback));
      expect(stranger.status).toBe(404);
      callback.searchParams.set("code", "code-1");
      await fetch(callback);
    });
    const answer = await agent.request("authenticate", { methodId: "openrouter" });
    expect(answer.error).toBeUndefined();
    expect(JSON.parse(asked[0]?.body ?? "")).toMatchObject({ code: "code-1", code_challenge_method: "S256" });
    expect(readFileSync(join(agent.home, ".env"), "utf8")).toBe("OPENROUTER_API_KEY=sk-or-from-page\n");
  });
});
