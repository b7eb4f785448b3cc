import { mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ServerAuth, SignInNeeded, serverAuthOf } from "../../../agent-core/mcp/server-auth.ts";
import { editorServers } from "../../../agent-core/mcp/server-config.ts";
import { signIn } from "../../../agent-core/mcp/sign-in.ts";
import { SignInFile } from "../../../agent-core/mcp/sign-in-file.ts";
import { type Issuer, startIssuer } from "../../support/oauth-issuer.ts";

let issuer: Issuer;
let path: string;

beforeEach(async () => {
  issuer = await startIssuer();
  path = join(mkdtempSync(join(tmpdir(), "hermes-sign-in-")), "mcp-tokens", "guarded.json");
});
afterEach(() => issuer.close());

/** Access of one process to the server; `now` in milliseconds. */
function access(now = () => Date.now(), url = issuer.url): ServerAuth {
  return new ServerAuth({ name: "guarded", url, file: new SignInFile(path, url.href), fetchFn: fetch, clock: { now } });
}

test("a server with its own credentials, and a program, need no sign-in", () => {
  const home = mkdtempSync(join(tmpdir(), "hermes-sign-in-"));
  const url = issuer.url.href;
  const { servers } = editorServers([
    { type: "http", name: "../x", url, headers: [] },
    { type: "http", name: "keyed", url, headers: [{ name: "x-api-key", value: "x" }] },
    { name: "program", command: "x", args: [], env: [] },
  ]);
  expect(servers.map((config) => serverAuthOf(config, home)?.options.name)).toEqual(["../x", undefined, undefined]);
});

const never = new AbortController().signal;

async function signInByBrowser(server: ServerAuth): Promise<string> {
  let shown: Promise<string> | undefined;
  await signIn(server, {
    open: async (page) => {
      shown = issuer.visit(page);
    },
    signal: never,
  });
  return (await shown) ?? "";
}

/** Calls the server's tool over a fresh connection. */
async function callTool(server: ServerAuth): Promise<unknown> {
  const client = new Client({ name: "test", version: "1" });
  const transport = new StreamableHTTPClientTransport(server.options.url, { authProvider: server });
  try {
    await client.connect(transport);
    return (await client.callTool({ name: "whoami", arguments: {} })).content;
  } finally {
    await client.close();
  }
}

const ADA = [{ type: "text", text: "ada" }];

test("a server that requires a sign-in says so in one line, and nothing is registered unasked", async () => {
  const error = await callTool(access()).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(SignInNeeded);
  expect(String(error)).toContain("guarded requires a sign-in. Type `/mcp signin guarded`.");
  expect(issuer.requests).toEqual([]);
});

test("after the sign-in the server answers, in another process too, and only the owner may read the file", async () => {
  expect(await signInByBrowser(access())).toBe("You are signed in to guarded. You can close this page.");
  expect(await callTool(access())).toEqual(ADA);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("a second sign-in uses the first one's registration", async () => {
  await signInByBrowser(access());
  await signInByBrowser(access());
  expect(issuer.requests.filter((request) => request === "POST /register")).toHaveLength(1);
});

test("an issuer that registers nobody needs the registration of the configuration, with its port and scope", async () => {
  issuer.faults.registersNobody = true;
  await expect(signInByBrowser(access())).rejects.toThrow("Could not sign in to guarded: ");
  const port = await freePort();
  const registration = { client_id: "known", scope: "read", redirect_port: port };
  const server = new ServerAuth({ ...access().options, registration });
  const pages: URL[] = [];
  const open = async (page: URL): Promise<void> => {
    pages.push(page);
    void issuer.visit(page);
  };
  await signIn(server, { open, signal: never });
  expect(await callTool(server)).toEqual(ADA);
  expect(Object.fromEntries(pages[0]?.searchParams ?? [])).toMatchObject({
    client_id: "known",
    scope: "read",
    redirect_uri: `http://127.0.0.1:${port}/callback`,
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return typeof address === "object" && address !== null ? address.port : 0;
}

test.each([
  ["the answer names another issuer", () => ({ iss: "https://evil.example" }), /evil\.example/],
  ["the answer has the state of another sign-in", () => ({ state: "other" }), /wrong state/],
  ["the user refuses", () => ({ refuses: true }), /access_denied/],
])("nothing is stored when %s", async (_name, faults, reason) => {
  Object.assign(issuer.faults, faults());
  await expect(signInByBrowser(access())).rejects.toThrow(reason);
  expect(issuer.requests).not.toContain("POST /token");
  await expect(callTool(access())).rejects.toBeInstanceOf(SignInNeeded);
});

test("a token that ends soon is renewed before the request", async () => {
  await signInByBrowser(access());
  const later = Date.now() + 3_599_000;
  expect(await callTool(access(() => later))).toEqual(ADA);
  expect(issuer.requests.filter((request) => request === "POST /token")).toHaveLength(2);
});

test("a refused token is renewed once for all processes", async () => {
  const [one, other] = [access(), access()];
  await signInByBrowser(one);
  issuer.expireTokens();
  expect(await Promise.all([callTool(one), callTool(other)])).toEqual([ADA, ADA]);
  expect(issuer.requests.filter((request) => request === "POST /token")).toHaveLength(2);
});

test("a refused renewal needs a new sign-in, and says so in one line", async () => {
  await signInByBrowser(access());
  issuer.expireTokens();
  issuer.faults.refusesRenewal = true;
  const error = await callTool(access()).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(SignInNeeded);
  expect(String(error)).toContain("guarded ended your sign-in. Type `/mcp signin guarded`.");
  issuer.faults.refusesRenewal = false;
  await signInByBrowser(access());
  expect(await callTool(access())).toEqual(ADA);
});

test("an issuer out of reach keeps the sign-in for later", async () => {
  await signInByBrowser(access());
  const { origin } = issuer;
  const broken = new ServerAuth({
    ...access().options,
    clock: { now: () => Date.now() + 3_599_000 },
    fetchFn: (url, init) =>
      String(url).startsWith(`${origin}/token`) ? Promise.reject(new Error("offline")) : fetch(url, init),
  });
  await expect(broken.token()).rejects.toThrow("The sign-in to guarded could not be renewed: offline");
  expect(await callTool(access())).toEqual(ADA);
});

test("the token of one address is never sent to another under the same name", async () => {
  await signInByBrowser(access());
  expect(await access(Date.now, new URL("https://evil.example/mcp")).token()).toBeUndefined();
});

test("a sign-out forgets the token", async () => {
  const server = access();
  await signInByBrowser(server);
  await server.signOut();
  expect(await server.token()).toBeUndefined();
  expect(readFileSync(path, "utf8")).not.toContain("access_token");
});

test("a sign-in leaves the fields of another program in the file as they are", async () => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify({ access_token: "theirs", token_type: "Bearer" }));
  expect(await access().token()).toBeUndefined();
  await signInByBrowser(access());
  expect(await callTool(access())).toEqual(ADA);
  expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ access_token: "theirs" });
});

test("a damaged file counts as signed out", async () => {
  await signInByBrowser(access());
  writeFileSync(path, "{ half");
  expect(await access().token()).toBeUndefined();
});

test("a cancelled sign-in ends at once", async () => {
  const cancelled = new AbortController();
  const open = async (): Promise<void> => cancelled.abort(new Error("the user cancelled"));
  await expect(signIn(access(), { open, signal: cancelled.signal })).rejects.toThrow("the user cancelled");
});

test("the user may paste the address that the browser shows, when it runs on another machine", async () => {
  const server = access();
  const { promise: pasted, resolve } = Promise.withResolvers<URL>();
  const open = async (page: URL): Promise<void> => {
    const { headers } = await fetch(page, { redirect: "manual" });
    resolve(new URL(headers.get("location") ?? ""));
  };
  await signIn(server, { open, pasted, signal: never });
  expect(await callTool(server)).toEqual(ADA);
});
