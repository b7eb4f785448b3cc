// The floor of the index: a thread that reads a snapshot whole into SQLite, lists what was used last, and looks words up
// without ranking what it finds.
import { readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import initSqlJs from "sql.js";

const sql = await initSqlJs();
const database = new sql.Database(readFileSync(workerData));
parentPort.on("message", ({ query }) => {
  parentPort.postMessage(query === undefined ? listed() : found(query));
});

function listed() {
  return database.exec("SELECT * FROM sessions ORDER BY updated_at DESC LIMIT 50");
}

function found(query) {
  const statement = database.prepare("SELECT docid FROM messages_fts WHERE messages_fts MATCH ? LIMIT 10", [query]);
  const ids = [];
  while (statement.step()) ids.push(statement.get()[0]);
  statement.free();
  return ids;
}
