/** Answers the tool calls of one script over a Unix socket: one connection, one token, one call at a time. */
import { createServer, type Server, type Socket } from "node:net";
import * as z from "zod";
import { parseJson } from "../platform/json.ts";

/** Length of a request; a script cannot write a longer text in one call. Characters. */
const MAX_REQUEST_CHARS = 32 * 1024 ** 2;

export type ToolServerOptions = {
  /** Absolute path of the socket. */
  readonly socket: string;
  readonly token: string;
  readonly maxCalls: number;
  /** Names of the tools that the script may call. */
  readonly tools: ReadonlySet<string>;
  /** Runs a call and returns the text for the model. A rejection ends the connection. */
  call(name: string, input: unknown): Promise<string>;
};

export type ToolServer = {
  readonly calls: number;
  /** Ends the connection, and settles once no call runs. */
  close(): Promise<void>;
};

const helloSchema = z.object({ token: z.string() });
const requestSchema = z.object({ name: z.string(), input: z.record(z.string(), z.unknown()) });

type Answer = { readonly text: string } | { readonly error: string };

/** Rejects with the system's error when the socket cannot be made. */
export async function startToolServer(options: ToolServerOptions): Promise<ToolServer> {
  const calls = new ScriptCalls(options);
  let accepted: Socket | undefined;
  const server = createServer((socket) => {
    socket.on("error", () => undefined); // the script has ended
    const takes = (line: string): boolean => {
      if (accepted === socket) return calls.take(line, socket);
      if (accepted !== undefined || helloSchema.safeParse(parseJson(line)).data?.token !== options.token) return false;
      accepted = socket;
      server.close(); // no second connection
      return true;
    };
    readLines(socket, takes);
  });
  await listen(server, options.socket);
  return {
    get calls() {
      return calls.count;
    },
    async close() {
      server.close();
      accepted?.destroy();
      await calls.settled;
    },
  };
}

class ScriptCalls {
  readonly #options: ToolServerOptions;
  count = 0;
  settled: Promise<void> = Promise.resolve();

  constructor(options: ToolServerOptions) {
    this.#options = options;
  }

  /** False for a line that is not a request. */
  take(line: string, socket: Socket): boolean {
    const request = requestSchema.safeParse(parseJson(line)).data;
    if (request === undefined) return false;
    this.settled = this.settled.then(async () => {
      if (socket.destroyed) return;
      try {
        socket.write(`${JSON.stringify(await this.#answer(request))}\n`);
      } catch {
        // The script is being ended, so it gets no answer.
      }
    });
    return true;
  }

  async #answer({ name, input }: z.infer<typeof requestSchema>): Promise<Answer> {
    const { tools, maxCalls, call } = this.#options;
    if (!tools.has(name)) return { error: `${name} cannot be called from a script` };
    if (this.count >= maxCalls) return { error: `the limit of ${maxCalls} tool calls in a script is reached` };
    this.count += 1;
    return { text: (await call(name, input)).toWellFormed() };
  }
}

/** Ends the connection when `take` refuses a line, and when a line is too long. */
function readLines(socket: Socket, take: (line: string) => boolean): void {
  let parts: string[] = [];
  let length = 0;
  socket.setEncoding("utf8");
  socket.on("data", (text: string) => {
    const [first = "", ...lines] = text.split("\n");
    parts.push(first);
    length += first.length;
    if (length > MAX_REQUEST_CHARS) socket.destroy();
    for (const line of lines) {
      if (socket.destroyed) return;
      if (!take(parts.join(""))) socket.destroy();
      parts = [line];
      length = line.length;
    }
  });
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
}
