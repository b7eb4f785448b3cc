import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../support/acp-client.ts";
import { say } from "../../support/model-server/model-server.ts";
import { FakePlatform, type Shown, type Written } from "../../support/platforms/platform.ts";
import { startGateway } from "../../support/platforms/start-gateway.ts";

/** An IRC server with one client. */
class FakeIrc extends FakePlatform {
  readonly name = "irc";
  readonly variables = {};
  override readonly edits = false;
  readonly #folder = temporaryFolder("hermes-irc-");
  readonly #irc: Server;
  #client: Socket | undefined;

  constructor() {
    super();
    this.#irc = createServer((socket) => {
      this.#client = socket;
      createInterface({ input: socket }).on("line", (line) => {
        if (line.startsWith("USER")) socket.write(":server 001 hermes :Welcome\r\n");
        const [, chat = "", text = ""] = /^PRIVMSG (\S+) :(.*)$/.exec(line) ?? [];
        if (chat !== "") this.put({ id: String(this.newId()), chat, text, buttons: [] });
      });
    });
  }

  get section() {
    return {
      adapter: join(this.#folder, "irc.mjs"),
      host: "127.0.0.1",
      port: (this.#irc.address() as AddressInfo).port,
      nick: "hermes",
    };
  }

  override async start(): Promise<this> {
    const page = readFileSync("docs/gateway.md", "utf8");
    const [, code = ""] = /```js\n([\s\S]*?)\n```/.exec(page) ?? [];
    mkdirSync(this.#folder, { recursive: true });
    writeFileSync(join(this.#folder, "irc.mjs"), code);
    this.#irc.listen(0, "127.0.0.1");
    await once(this.#irc, "listening");
    return super.start();
  }

  override async stop(): Promise<void> {
    this.#client?.destroy();
    this.#irc.close();
    const { rmSync } = await import("node:fs");
    rmSync(this.#folder, { recursive: true, force: true });
    await super.stop();
  }

  write(text: string, { chat = "hermes", user, name = "ada" }: Written = {}): void {
    const account = user === undefined ? "" : `;account=${user}`;
    this.#client?.write(`@msgid=${this.newId()}${account} :${name}!u@h PRIVMSG ${chat} :${text}\r\n`);
  }

  press(_message: Shown, _label: string): void {
    throw new Error("IRC has no buttons");
  }

  protected handle(): Promise<void> {
    return Promise.resolve();
  }
}

test("The adapter of the page serves IRC, and lets no nickname in", async () => {
  const irc = await new FakeIrc().start();
  const { model } = await startGateway(irc);
  model.respondWith(({ messages }) =>
    say(`**answer** ${messages.filter(({ role }) => role === "user").length}\n\n${"long words ".repeat(100)}end`),
  );
  irc.write("hello", { name: "7" });
  irc.write("hello", { name: "ada", user: "8" });
  irc.write("hello", { user: "7" });
  await irc.until(/end$/);
  irc.write("hermes: and here", { chat: "#team", user: "7" });
  irc.write("no mention", { chat: "#team", user: "7" });
  await irc.until(/answer 1/, irc.shown.findIndex(({ text }) => text.endsWith("end")) + 1);
  expect(model.requests).toHaveLength(2);
  expect(irc.shown.every(({ text }) => Buffer.byteLength(text) <= 400)).toBe(true);
  expect(new Set(irc.shown.map(({ chat }) => chat))).toEqual(new Set(["ada", "#team"]));
});
