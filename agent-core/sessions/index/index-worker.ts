/** The thread of the index: SQLite stops whoever runs it for up to seconds, so it runs beside the agent. */
import { parentPort, workerData } from "node:worker_threads";
import type { FromIndex, IndexPlace, ToIndex } from "./index-messages.ts";

const port = parentPort;
if (port === null) throw new Error("The index of sessions runs as a worker thread.");

const tell = (message: FromIndex): void => port.postMessage(message);
// Its own chunk, beside which the WebAssembly lies.
const { IndexStore } = await import("./index-store.ts");
const { questions } = await import("./questions.ts");
const store = new IndexStore({
  ...(workerData as IndexPlace), // given by session-index.ts
  log: (line) => tell({ type: "log", line }),
  building: (building) => tell({ type: "building", building }),
});

port.on("message", (message: ToIndex) => {
  if (message.type === "close") void store.close().then(() => port.close());
  else void answer(message);
});

async function answer({ id, name, args }: Extract<ToIndex, { type: "ask" }>): Promise<void> {
  // Typed where it is asked; a name and its arguments cross the border together.
  const question = questions[name] as (...given: unknown[]) => never;
  try {
    tell({ type: "answer", id, answer: await store.ask((database) => question(database, ...args)) });
  } catch (error) {
    tell({ type: "failure", id, message: error instanceof Error ? error.message : String(error) });
  }
}
