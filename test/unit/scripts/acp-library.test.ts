import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { leanApps, leanConnections } from "../../../scripts/acp-library.ts";
import { memoryPipe } from "../../../scripts/memory-pipe.ts";

const library = (file: string): string =>
  readFileSync(`node_modules/@zed-industries/agent-client-protocol/dist/${file}`, "utf8");

test.each([
  ["apps", leanApps, "v1/stable/acp.js"],
  ["connections", leanConnections, "core/jsonrpc.js"],
] as const)(
  "The change of the library's %s fails for a file that has it already, as for any other form",
  (_, change, file) => {
    const changed = change(library(file));
    expect(() => change(changed)).toThrow("The ACP library has another form than expected");
  },
);

test("A pipe in memory keeps messages in order, for a reader that comes later and for one that waits", async () => {
  const { readable, writable } = memoryPipe();
  const [reader, writer] = [readable.getReader(), writable.getWriter()];
  await writer.write(1);
  await writer.write(2);
  expect([await reader.read(), await reader.read()]).toEqual([
    { done: false, value: 1 },
    { done: false, value: 2 },
  ]);
  const waiting = reader.read();
  await writer.write(3);
  expect(await waiting).toEqual({ done: false, value: 3 });
});

test("A pipe in memory that its reader has left ends the read, and refuses messages", async () => {
  const { readable, writable } = memoryPipe();
  const reader = readable.getReader();
  const waiting = reader.read();
  await reader.cancel();
  expect(await waiting).toEqual({ done: true, value: undefined });
  expect(await reader.read()).toEqual({ done: true, value: undefined });
  await expect(writable.getWriter().write(1)).rejects.toThrow("ACP connection closed");
});
