/** Running servers of this process. Sessions with the same settings of a server share one connection. */
import { contentHash } from "../approval/consents.ts";
import { type ConnectionOptions, ServerConnection } from "./server-connection.ts";

export type ServerLeaseOptions = ConnectionOptions & {
  /** Folders of the session, absolute: the server's roots. */
  readonly roots: readonly string[];
  /** Called after each change of the server's state or lists. */
  readonly onChange: () => void;
};

/** Use of a shared server by one session. */
export type ServerLease = ReturnType<SharedServers["lease"]>;

type Shared = { readonly connection: ServerConnection; users: number };

export class SharedServers {
  readonly #shared = new Map<string, Shared>();

  /** Starts the server in the background, unless it runs for another session. */
  lease(options: ServerLeaseOptions) {
    const { roots, onChange, ...needed } = options;
    const key = keyOf(needed);
    const known = this.#shared.get(key);
    const shared = known ?? { connection: new ServerConnection(needed), users: 0 };
    shared.users += 1;
    this.#shared.set(key, shared);
    const { connection } = shared;
    const removeRoots = connection.addRoots(roots);
    const removeListener = connection.onChange(onChange);
    if (known === undefined) void connection.start();
    let isReleased = false;
    return {
      connection,
      /** Ends the server with its last use. Resolves when no process of it is left. */
      release: async (): Promise<void> => {
        if (isReleased) return;
        isReleased = true;
        removeListener();
        removeRoots();
        shared.users -= 1;
        if (shared.users > 0) return;
        this.#shared.delete(key);
        await connection.close();
      },
    };
  }
}

/** Includes the folder of a program: a relative path in its arguments names another file in another folder. */
function keyOf({ config, folder }: ConnectionOptions): string {
  const { settings, timeoutMs, connectTimeoutMs } = config;
  return contentHash({ settings, timeoutMs, connectTimeoutMs, folder: settings.kind === "stdio" ? folder : "" });
}

/** The servers that all sessions of the process share. */
export const sharedServers = new SharedServers();
