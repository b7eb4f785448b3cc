/** A MessagePort as an ACP stream: messages travel as objects, by structured clone. */
import type { MessagePort } from "node:worker_threads";
import type { AnyMessage, Stream } from "@zed-industries/agent-client-protocol";

/** The message with which the extension ends the stream: a worker's port has no end of its own. */
const CLOSE = "close";

export function portStream(port: MessagePort): Stream {
  let open = true;
  const readable = new ReadableStream<AnyMessage>({
    start(controller) {
      port.on("message", (message: AnyMessage | typeof CLOSE) => {
        if (message !== CLOSE) {
          if (open) controller.enqueue(message);
          return;
        }
        if (open) controller.close();
        open = false;
        port.close();
      });
    },
    cancel() {
      open = false;
    },
  });
  const writable = new WritableStream<AnyMessage>({ write: (message) => port.postMessage(message) });
  return { readable, writable };
}
