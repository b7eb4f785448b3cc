/** The worker as an ACP stream: messages travel as objects; it ends when the worker does. */
import type { Worker } from "node:worker_threads";
import type { AnyMessage, Stream } from "@zed-industries/agent-client-protocol";

export function portStream(worker: Worker): Stream {
  // A stream that its reader has given up, or that has ended, takes nothing more: it would throw into the worker's events.
  let open = true;
  const readable = new ReadableStream<AnyMessage>({
    start(controller) {
      const close = (): void => {
        if (open) controller.close();
        open = false;
      };
      worker.on("message", (message: AnyMessage) => {
        if (open) controller.enqueue(message);
      });
      worker.once("exit", close);
      worker.once("error", close);
    },
    cancel() {
      open = false;
    },
  });
  const writable = new WritableStream<AnyMessage>({ write: (message) => worker.postMessage(message) });
  return { readable, writable };
}
