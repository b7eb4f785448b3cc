/** A small trainer that speaks the Atropos API: it begins with the first batch that a test takes. */
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";

type Body = Readonly<Record<string, unknown>>;

export type Trainer = {
  readonly url: string;
  /** Bodies of `/scored_data`, in order. */
  readonly scored: readonly Body[];
  /** Calls in order, such as `POST /register-env`. */
  readonly calls: readonly string[];
  stop(): Promise<void>;
};

/** `steps`: groups that it wants. It lets the first registration wait. */
export async function startTrainer(steps: number): Promise<Trainer> {
  const scored: Body[] = [];
  const calls: string[] = [];
  const answer = (call: string, body: Body): unknown => {
    switch (call) {
      case "POST /register-env":
        if (calls.filter((each) => each === call).length < 2) return { status: "wait for trainer to start" };
        return { status: "success", env_id: 7, wandb_name: "e_0", starting_step: 0, num_steps: steps };
      case "GET /status-env":
        if (body["env_id"] !== 7) return undefined;
        return { current_step: scored.length, queue_size: 0, env_weight: 1 };
      case "POST /scored_data":
        scored.push(body);
        return { status: "received" };
      case "POST /disconnect-env":
        return { status: "success" };
      default:
        return undefined;
    }
  };
  const server = createServer(async (request, response) => {
    const call = `${request.method} ${request.url}`;
    calls.push(call);
    const found = answer(call, await bodyOf(request));
    response.writeHead(found === undefined ? 422 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(found ?? { detail: "no such call" }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the trainer has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    scored,
    calls,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString("utf8") || "{}");
}
