/** Pages of plain text over HTTP, some of which fail. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Chance } from "./chance.ts";

export class PageServer {
  readonly base: string;
  fails: (chance: Chance) => boolean = () => false;
  readonly #texts = new Map<string, string>();
  readonly #server: Server;

  static async start(chance: Chance): Promise<PageServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new PageServer(server, chance);
  }

  private constructor(server: Server, chance: Chance) {
    this.#server = server;
    this.base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on("request", ({ url = "" }, response) => {
      const text = this.#texts.get(url);
      if (text === undefined) response.writeHead(404).end("no such page");
      else if (this.fails(chance))
        response.writeHead(500, { "content-type": "text/plain" }).end("the register is busy");
      else response.writeHead(200, { "content-type": "text/plain" }).end(text);
    });
  }

  set(path: string, text: string): void {
    this.#texts.set(path, text);
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }
}
