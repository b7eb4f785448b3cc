/** Sign-ins that wait for the user's browser, at most one for each server of a session. */
import type { ExtensionSession } from "../agent/extensions.ts";
import { messageOf } from "../platform/errors.ts";
import type { ServerConfig } from "./server-config.ts";
import type { ServerConnection } from "./server-connection.ts";
import type { SignInOptions } from "./sign-in.ts";

/** Opens a page in the user's browser. `unavailable`: the user needs the link. */
export type OpenPage = (page: {
  readonly url: URL;
  readonly purpose: string;
  /** Settles when the user needs the page no more. */
  readonly done: Promise<unknown>;
}) => Promise<"opened" | "refused" | "unavailable">;

/** One sign-in. */
type Pending = {
  /** Resolves to one line when the user has the page. Rejects with an Error in one line. */
  readonly opened: Promise<string>;
  /** Resolves when the user is signed in. Rejects with an Error in one line. */
  readonly done: Promise<void>;
  paste(address: URL): void;
  cancel(): void;
};

export class PendingSignIns {
  readonly #home: string;
  readonly #openPage: OpenPage;
  readonly #session: ExtensionSession;
  readonly #pending = new Map<string, Pending>();

  constructor(home: string, openPage: OpenPage, session: ExtensionSession) {
    this.#home = home;
    this.#openPage = openPage;
    this.#session = session;
  }

  /** Begins a sign-in, in place of an earlier one to the same server. The server starts again after it. */
  begin(config: ServerConfig, connection: ServerConnection): Pending {
    this.#pending.get(config.name)?.cancel();
    const cancelled = new AbortController();
    const pasted = Promise.withResolvers<URL>();
    const opened = Promise.withResolvers<string>();
    opened.promise.catch(() => undefined);
    const done: Promise<void> = this.#run(config, connection, {
      pasted: pasted.promise,
      signal: cancelled.signal,
      open: async (url) => opened.resolve(await this.#show(url, config.name, done)),
    });
    done.catch(opened.reject);
    const pending: Pending = {
      opened: opened.promise,
      done,
      paste: pasted.resolve,
      cancel: () => cancelled.abort(new Error(`The sign-in to ${config.name} was cancelled.`)),
    };
    this.#pending.set(config.name, pending);
    const forget = (): void => {
      if (this.#pending.get(config.name) === pending) this.#pending.delete(config.name);
    };
    done.then(forget, forget);
    return pending;
  }

  /** The pending sign-in to this server. */
  get(name: string): Pending | undefined {
    return this.#pending.get(name);
  }

  cancelAll(): void {
    for (const pending of this.#pending.values()) pending.cancel();
  }

  async #run(config: ServerConfig, connection: ServerConnection, options: SignInOptions): Promise<void> {
    const { serverAuthOf } = await import("./server-auth.ts");
    const auth = serverAuthOf(config, this.#home);
    if (auth === undefined) throw new Error(`${config.name} needs no sign-in.`);
    await (await import("./sign-in.ts")).signIn(auth, options);
    await connection.start(); // the library's transport cannot start twice
  }

  /** Returns the outcome in one line. Throws when the user refused. */
  async #show(url: URL, name: string, done: Promise<void>): Promise<string> {
    const purpose = `Sign in to the MCP server ${name}`;
    const outcome = await this.#openPage({ url, purpose, done }).catch((error: unknown) => {
      throw new Error(`the page could not be opened: ${messageOf(error)}`);
    });
    if (outcome === "refused") throw new Error("the page was not opened");
    const elsewhere = `If it ends on a page that does not load, the browser is on another machine: copy the address of that page, and type \`/mcp signin ${name} ADDRESS\`.`;
    if (outcome === "opened") return `Sign in to ${name} in your browser. ${elsewhere}`;
    const line = `To sign in to ${name}, open ${url.href} in a browser. ${elsewhere}`;
    this.#session.status({ severity: "info", message: line });
    return line;
  }
}
