/** SQLite in WebAssembly. Loaded on first use only, in the thread of the index. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import initSqlJs, { type SqlJsStatic } from "sql.js";

/** Where the bundler put the WebAssembly, seen from this module's chunk; absent when the sources run as they are. */
declare const __SQL_WASM__: string | undefined;

let loaded: Promise<SqlJsStatic> | undefined;

/** Rejects with the system's error when the WebAssembly cannot be read. */
export function loadSqlite(): Promise<SqlJsStatic> {
  loaded ??= readFile(wasmPath()).then((bytes) => initSqlJs({ wasmBinary: new Uint8Array(bytes).buffer }));
  return loaded;
}

function wasmPath(): string {
  if (typeof __SQL_WASM__ === "string") return fileURLToPath(new URL(__SQL_WASM__, import.meta.url));
  return createRequire(import.meta.url).resolve("sql.js/dist/sql-wasm.wasm");
}
