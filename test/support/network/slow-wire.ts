/** A TCP proxy whose every byte arrives late, as over a long way. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

export type SlowWire = {
  readonly port: number;
  /** Time of a byte in each direction; a round trip takes twice as long. Default: 0. Milliseconds. */
  delayMs: number;
  stop(): Promise<void>;
};

/** A proxy before the server on `port` of this machine. */
export async function slowWire(port: number): Promise<SlowWire> {
  const open = new Set<Socket>();
  const pass = (from: Socket, to: Socket): void => {
    let before = Promise.resolve();
    /** One after the other: timers of different lengths would change the order of bytes when the delay becomes shorter. */
    const later = (arrive: () => void): void => {
      const due = performance.now() + wire.delayMs;
      before = before.then(async () => {
        const left = due - performance.now();
        if (left > 0) await delay(left);
        arrive();
      });
    };
    open.add(from);
    from.on("data", (chunk: Buffer) => later(() => to.writable && to.write(chunk)));
    from.on("error", () => to.destroy());
    from.on("close", () => {
      open.delete(from);
      later(() => to.destroy());
    });
  };
  const proxy = createServer((client) => {
    const server = connect(port, "127.0.0.1");
    for (const socket of [client, server]) socket.setNoDelay();
    pass(client, server);
    pass(server, client);
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  const address = proxy.address();
  const wire: SlowWire = {
    port: typeof address === "object" && address !== null ? address.port : 0,
    delayMs: 0,
    async stop() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
  return wire;
}
