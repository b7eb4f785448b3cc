/** A worker's port as an ACP stream: messages travel as objects, by structured clone. */
import type { AnyMessage, Stream } from "@zed-industries/agent-client-protocol";

/** Message that ends the stream: a worker's port does not notice when the other side stops. */
const END = "close";

/** A `MessagePort` in the worker, or the `Worker` in the extension host. */
type Port = {
  on(event: "message", listener: (message: AnyMessage | typeof END) => void): unknown;
  once(event: "exit" | "error" | "close", listener: () => void): unknown;
  postMessage(message: unknown): void;
};

/** Ends when the other side calls `endStream`, or when the worker ends. */
export function portStream(port: Port): Stream {
  // A closed or cancelled stream takes no more messages: enqueue would throw in the listener.
  let isOpen = true;
  const readable = new ReadableStream<AnyMessage>({
    start(controller) {
      const end = (): void => {
        if (isOpen) controller.close();
        isOpen = false;
      };
      port.on("message", (message) => {
        if (message === END) end();
        else if (isOpen) controller.enqueue(message);
      });
      for (const event of ["exit", "error", "close"] as const) port.once(event, end);
    },
    cancel() {
      isOpen = false;
    },
  });
  const writable = new WritableStream<AnyMessage>({ write: (message) => port.postMessage(message) });
  return { readable, writable };
}

/** Ends the stream on the other side of the port. */
export function endStream(port: Port): void {
  port.postMessage(END);
}
