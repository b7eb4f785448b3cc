/** Servers of this process: sessions that need the same program with the same environment share one. */
import { contentHash } from "../approval/consents.ts";
import { type ConnectionOptions, ServerConnection } from "./server-connection.ts";

type Shared = { readonly connection: ServerConnection; users: number };

/** Use of a shared server by one session. */
export type ServerLease = {
  readonly connection: ServerConnection;
  /** Ends the server with its last use. Resolves when no process of it is left. */
  release(): Promise<void>;
};

export class Hub {
  readonly #shared = new Map<string, Shared>();

  /** Starts the server in the background, unless it runs for another session. */
  lease(options: ConnectionOptions): ServerLease {
    const key = keyOf(options);
    const known = this.#shared.get(key);
    const shared = known ?? { connection: new ServerConnection(options), users: 0 };
    shared.users += 1;
    this.#shared.set(key, shared);
    if (known === undefined) void shared.connection.start();
    let isReleased = false as boolean;
    return {
      connection: shared.connection,
      release: async () => {
        if (isReleased) return;
        isReleased = true;
        shared.users -= 1;
        if (shared.users > 0) return;
        this.#shared.delete(key);
        await shared.connection.close();
      },
    };
  }
}

/** Servers in different folders differ: a relative path in their arguments means another file. */
function keyOf({ config, folder }: ConnectionOptions): string {
  const { settings, timeoutMs, connectTimeoutMs } = config;
  return contentHash({ settings, timeoutMs, connectTimeoutMs, folder: settings.kind === "stdio" ? folder : "" });
}

/** All sessions of the process. */
export const hub = new Hub();
