/** The thread of the index. SQLite can block for seconds, so it runs outside the agent's thread. */
import { parentPort, workerData } from "node:worker_threads";
import { useCompileCache } from "../../platform/compile-cache.ts";
import { messageOf } from "../../platform/errors.ts";
import type { FromIndex, IndexPlace, ToIndex } from "./index-messages.ts";

const port = parentPort;
if (port === null) throw new Error("The session index runs only in a worker thread.");

const send = (message: FromIndex): void => port.postMessage(message);
useCompileCache();
// A separate chunk, next to the WebAssembly file. SQLite compiles while the other modules load.
const { loadSqlite } = await import("./open-database.ts");
void loadSqlite().catch(() => undefined); // the first question reports the failure
const { IndexStore } = await import("./index-store.ts");
const { questions } = await import("./index-messages.ts");
const place = workerData as IndexPlace; // set by session-index.ts
const imports = new Map<number, AbortController>();
const store = new IndexStore({
  ...place,
  log: (line) => send({ type: "log", line }),
  building: (building) => send({ type: "building", building }),
});

port.on("message", (message: ToIndex) => {
  switch (message.type) {
    case "ask":
      void answer(message);
      return;
    case "import":
      void bringOver(message);
      return;
    case "cancel":
      imports.get(message.id)?.abort();
      return;
    case "close":
      for (const running of imports.values()) running.abort();
      void store.close().then(() => port.close());
      return;
  }
});

async function answer({ id, name, args }: Extract<ToIndex, { type: "ask" }>): Promise<void> {
  // The asking side checks the types of a name and its arguments together.
  const question = questions[name] as (...given: unknown[]) => never;
  try {
    send({ type: "answer", id, answer: await store.ask((database) => question(database, ...args)) });
  } catch (error) {
    send({ type: "failure", id, message: messageOf(error) });
  }
}

async function bringOver({ id, from }: Extract<ToIndex, { type: "import" }>): Promise<void> {
  const running = new AbortController();
  imports.set(id, running);
  const progress = (done: number, total: number): void => send({ type: "importing", id, done, total });
  try {
    const { importSessions } = await import("../import/import-sessions.ts");
    const { signal } = running;
    send({ type: "answer", id, answer: await importSessions({ from, ...place, progress, signal }) });
  } catch (error) {
    send({ type: "failure", id, message: messageOf(error) });
  } finally {
    imports.delete(id);
  }
}
