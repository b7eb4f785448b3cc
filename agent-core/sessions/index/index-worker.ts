/** The thread of the index: SQLite stops whoever runs it for up to seconds, so it runs beside the agent. */
import * as module from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import { messageOf } from "../../platform/errors.ts";
import type { FromIndex, IndexPlace, ToIndex } from "./index-messages.ts";

const port = parentPort;
if (port === null) throw new Error("The index of sessions runs as a worker thread.");

const tell = (message: FromIndex): void => port.postMessage(message);
module.enableCompileCache?.(); // for this thread, too; Node 22.0 has none
// Its own chunk, beside which the WebAssembly lies. SQLite is compiled while the rest is loaded.
const { loadSqlite } = await import("./load-sqlite.ts");
void loadSqlite().catch(() => undefined); // whoever asks first is told
const { IndexStore } = await import("./index-store.ts");
const { questions } = await import("./questions.ts");
const place = workerData as IndexPlace; // given by session-index.ts
const imports = new Map<number, AbortController>();
const store = new IndexStore({
  ...place,
  log: (line) => tell({ type: "log", line }),
  building: (building) => tell({ type: "building", building }),
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
  // Typed where it is asked; a name and its arguments cross the border together.
  const question = questions[name] as (...given: unknown[]) => never;
  try {
    tell({ type: "answer", id, answer: await store.ask((database) => question(database, ...args)) });
  } catch (error) {
    tell({ type: "failure", id, message: messageOf(error) });
  }
}

async function bringOver({ id, from, open, again }: Extract<ToIndex, { type: "import" }>): Promise<void> {
  const running = new AbortController();
  imports.set(id, running);
  const progress = (done: number, total: number): void => tell({ type: "importing", id, done, total });
  try {
    const { importSessions } = await import("../import/import-sessions.ts");
    const { signal } = running;
    tell({ type: "imported", id, report: await importSessions({ from, ...place, open, again, progress, signal }) });
  } catch (error) {
    tell({ type: "failure", id, message: messageOf(error) });
  } finally {
    imports.delete(id);
  }
}
