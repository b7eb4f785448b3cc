/** A port of this machine that waits for the redirect at the end of a sign-in in a browser. */
import { createServer, type ServerResponse } from "node:http";

const LOOPBACK = "127.0.0.1";

export type Redirect = {
  /** Address for the issuer's redirect. */
  readonly url: string;
  /** Address that the browser asked for. */
  readonly answer: Promise<URL>;
  /** Shows the text in the browser, and ends the server. */
  close(text: string): void;
};

export type RedirectOptions = {
  readonly path: string;
  /** Port that the issuer knows. Default: any. */
  readonly fixed?: number;
  /** Port of an earlier sign-in, which is used again if it is free. Default: any. */
  readonly earlier?: number;
};

/** Waits for one redirect of a browser on this machine. Rejects when another program has the fixed port. */
export async function listenForRedirect({ path, fixed = 0, earlier = 0 }: RedirectOptions): Promise<Redirect> {
  const { promise: answer, resolve } = Promise.withResolvers<URL>();
  let browser: ServerResponse | undefined;
  const server = createServer((request, response) => {
    const asked = new URL(request.url ?? "/", `http://${LOOPBACK}`);
    if (asked.pathname !== path || browser !== undefined) return void response.writeHead(404).end();
    browser = response;
    resolve(asked);
  });
  const bound = await (fixed > 0 ? listen(server, fixed) : listen(server, earlier).catch(() => listen(server, 0)));
  return {
    url: `http://${LOOPBACK}:${bound}${path}`,
    answer,
    close(text) {
      browser?.writeHead(200, { "content-type": "text/plain; charset=utf-8", connection: "close" }).end(text);
      server.close();
      server.closeIdleConnections();
    },
  };
}

function listen(server: ReturnType<typeof createServer>, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, LOOPBACK, () => {
      server.off("error", reject);
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}
