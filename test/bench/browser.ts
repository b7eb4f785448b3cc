/** Browser tools: time from the first call to an open page, and of the snapshot of a large page. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findBrowser } from "../../agent-core/browser/find-browser.ts";
import { SessionBrowser } from "../../agent-core/browser/session-browser.ts";
import { type Row, times } from "./measuring.ts";

const ITEMS = 2_500;
const SNAPSHOTS = 15;

/** A page of 10,000 elements. */
const PAGE = `<title>Large</title><ul>${Array.from(
  { length: ITEMS },
  (_, n) => `<li><a href="#${n}">Link ${n}</a> of <button>Button ${n}</button></li><hr>`,
).join("")}</ul>`;

export async function measureBrowser(): Promise<readonly Row[]> {
  if (findBrowser() === undefined) return [];
  const folder = mkdtempSync(join(tmpdir(), "hermes-bench-browser-"));
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/html");
    response.end(PAGE);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo; // a TCP server
  const { signal } = new AbortController();
  const session = new SessionBrowser({}, () => folder);
  const start = performance.now();
  await session.use((browser) => browser.navigate(new URL(`http://localhost:${port}/`), signal), true);
  const opened = performance.now() - start;
  const snapshot = await times(SNAPSHOTS, async () => {
    const began = performance.now();
    await session.use((browser) => browser.snapshot(false));
    return performance.now() - began;
  });
  await session.close();
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
  return [
    { what: "first page of a session's browser, with its start", ours: opened, target: 4_000, unit: "ms" },
    { what: "snapshot of a page of 10,000 elements", ours: snapshot, target: 500, unit: "ms" },
  ];
}
