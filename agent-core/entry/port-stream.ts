/** A MessagePort as an ACP stream: messages travel as objects, by structured clone. */
import type { MessagePort } from "node:worker_threads";
import type { AnyMessage, Stream } from "@zed-industries/agent-client-protocol";

export function portStream(port: MessagePort): Stream {
  const readable = new ReadableStream<AnyMessage>({
    start(controller) {
      port.on("message", (message: AnyMessage) => controller.enqueue(message));
      port.once("close", () => controller.close());
    },
  });
  const writable = new WritableStream<AnyMessage>({ write: (message) => port.postMessage(message) });
  return { readable, writable };
}
