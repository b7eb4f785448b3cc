/**
 * Thread that reads documents, and scales pictures down. A hostile page can take minutes, and then the thread is ended. linkedom keeps an entry of
 * a WeakMap for each node. These entries cost the garbage collector half of the time, so the thread has another WeakMap.
 */
import { parentPort } from "node:worker_threads";
import type { Work } from "./reader-thread.ts";

/** Keeps each value in its key. */
class OwnWeakMap {
  readonly #name = Symbol("value");

  /** A key that is not an object has no value, as in the standard WeakMap. */
  get(key: Record<symbol, unknown> | null | undefined): unknown {
    return key?.[this.#name];
  }

  set(key: Record<symbol, unknown>, value: unknown): this {
    key[this.#name] = value;
    return this;
  }

  has(key: unknown): key is Record<symbol, unknown> {
    return typeof key === "object" && key !== null && this.#name in key;
  }

  delete(key: unknown): boolean {
    return this.has(key) && delete key[this.#name];
  }
}

Object.assign(globalThis, { WeakMap: OwnWeakMap });
const { readDocument } = await import("./read-document.ts");
const { scalePicture } = await import("./scale-picture.ts");
import("./html-page.ts").catch(() => undefined); // most documents are HTML, and the first page reports a failure

parentPort?.on("message", async ({ id, work }: { readonly id: number; readonly work: Work }) => {
  const result =
    work.kind === "document" ? await readDocument(work.document) : await scalePicture(work.bytes, work.side);
  parentPort?.postMessage({ id, result });
});
