/**
 * MCP server over HTTP that asks for a sign-in, and its OAuth issuer: one real HTTP server on the loopback. The browser is
 * `visit`, which follows the issuer's redirect as a user who agrees would.
 */
import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import * as z from "zod";

/** Deviations from a good issuer; changed at any time. */
export type IssuerFaults = {
  /** Name of another issuer in the redirect. */
  iss?: string;
  /** State of another sign-in in the redirect. */
  state?: string;
  /** The user refuses. */
  refuses?: boolean;
  /** Renewals are refused. */
  refusesRenewal?: boolean;
  /** Programs cannot register themselves. The issuer knows the client `known` alone. */
  registersNobody?: boolean;
};

export type Issuer = {
  readonly origin: string;
  /** Address of the MCP server, whose tool is `whoami`. */
  readonly url: URL;
  readonly faults: IssuerFaults;
  /** Requests to the issuer, as `METHOD PATH`. */
  readonly requests: readonly string[];
  /** Opens the page of the issuer as a browser does. Gives the text that the browser shows in the end. */
  visit(page: URL): Promise<string>;
  /** Ends all access tokens at once; their renewal still works. */
  expireTokens(): void;
  close(): Promise<void>;
};

/** Seconds that a token lasts. */
const LIFETIME = 3_600;

export async function startIssuer(): Promise<Issuer> {
  const faults: IssuerFaults = {};
  const requests: string[] = [];
  const codes = new Map<string, { readonly challenge: string; readonly redirect: string }>();
  const access = new Set<string>();
  const renewals = new Set<string>();
  const mcp = createMcpHandler(() => {
    const server = new McpServer({ name: "guarded", version: "1.0.0" });
    server.registerTool("whoami", { description: "Name of the user", inputSchema: z.object({}) }, () => ({
      content: [{ type: "text", text: "ada" }],
    }));
    return server;
  });
  let origin = "";

  const newTokens = () => {
    const tokens = { access_token: randomUUID(), refresh_token: randomUUID() };
    access.add(tokens.access_token);
    renewals.add(tokens.refresh_token);
    return Response.json({ ...tokens, token_type: "Bearer", expires_in: LIFETIME });
  };

  const authorize = (query: URLSearchParams): Response => {
    if (faults.registersNobody && query.get("client_id") !== "known") return new Response("who?", { status: 400 });
    const redirect = query.get("redirect_uri") ?? "";
    const target = new URL(redirect);
    target.searchParams.set("state", faults.state ?? query.get("state") ?? "");
    target.searchParams.set("iss", faults.iss ?? origin);
    if (faults.refuses) target.searchParams.set("error", "access_denied");
    else {
      const code = randomUUID();
      codes.set(code, { challenge: query.get("code_challenge") ?? "", redirect });
      target.searchParams.set("code", code);
    }
    return new Response(null, { status: 302, headers: { location: target.href } });
  };

  const token = (form: URLSearchParams): Response => {
    if (form.get("grant_type") === "refresh_token") {
      const isKnown = renewals.delete(form.get("refresh_token") ?? "");
      return isKnown && !faults.refusesRenewal ? newTokens() : invalidGrant();
    }
    const asked = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    const verifier = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const isValid = asked?.challenge === verifier && asked.redirect === form.get("redirect_uri");
    return isValid ? newTokens() : invalidGrant();
  };

  const answer = async (request: Request): Promise<Response> => {
    const url = new URL(request.url);
    if (url.pathname === "/mcp") {
      const given = request.headers.get("authorization")?.replace("Bearer ", "");
      if (given !== undefined && access.has(given)) return mcp.fetch(request);
      const challenge = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
      return new Response("no", { status: 401, headers: { "www-authenticate": challenge } });
    }
    requests.push(`${request.method} ${url.pathname}`);
    switch (url.pathname) {
      case "/.well-known/oauth-protected-resource/mcp":
        return Response.json({ resource: `${origin}/mcp`, authorization_servers: [origin] });
      case "/.well-known/oauth-authorization-server":
        return Response.json({
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          ...(!faults.registersNobody && { registration_endpoint: `${origin}/register` }),
          response_types_supported: ["code"],
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: ["none"],
          authorization_response_iss_parameter_supported: true,
        });
      case "/register":
        return Response.json(
          { ...z.looseObject({}).parse(await request.json()), client_id: randomUUID() },
          { status: 201 },
        );
      case "/authorize":
        return authorize(url.searchParams);
      case "/token":
        return token(new URLSearchParams(await request.text()));
      default:
        return new Response(null, { status: 404 });
    }
  };

  const server = createServer(async (incoming, response) => {
    const answered = await answer(await requestOf(incoming, origin));
    response.writeHead(answered.status, Object.fromEntries(answered.headers));
    response.end(Buffer.from(await answered.arrayBuffer()));
  });
  const port = await new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
  origin = `http://127.0.0.1:${port}`;
  return {
    origin,
    url: new URL(`${origin}/mcp`),
    faults,
    requests,
    visit: async (page) => (await fetch(page)).text(),
    expireTokens: () => access.clear(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function invalidGrant(): Response {
  return Response.json({ error: "invalid_grant", error_description: "the grant has ended" }, { status: 400 });
}

async function requestOf(incoming: IncomingMessage, origin: string): Promise<Request> {
  const { method = "GET", url = "/", headers } = incoming;
  const body = method === "GET" || method === "HEAD" ? null : await text(incoming);
  const pairs = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    typeof value === "string" ? [[name, value]] : [],
  );
  return new Request(new URL(url, origin), { method, headers: pairs, body });
}
