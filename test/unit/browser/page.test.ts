// A page of the browser, on a protocol client that answers everything at once.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import type { DevTools } from "../../../agent-core/browser/devtools.ts";
import { Page } from "../../../agent-core/browser/page.ts";

function pageWith(send: () => Promise<unknown>): Page {
  const devtools = { send, on: () => undefined, forget: () => undefined } as unknown as DevTools;
  return new Page(devtools, { session: "s", targetId: "t", firstRef: 0, isLoading: false }, () => undefined);
}

test("a page keeps no answer in memory", async () => {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const page = pageWith(async () => ({ data: "x".repeat(1_000) }));
  const asked = async () => new WeakRef(await page.send("Page.captureScreenshot"));
  const answer = await asked();
  const isKept = (): boolean => {
    collect();
    return answer.deref() !== undefined;
  };
  await expect.poll(isKept, { timeout: 3_000 }).toBe(false);
});

test("the end of a page rejects what waits for it, and all that follows, with its first reason", async () => {
  const page = pageWith(() => new Promise(() => undefined));
  const waiting = page.send("Page.enable");
  page.end(new Error("the page crashed"));
  page.end(new Error("the page was closed"));
  await expect(waiting).rejects.toThrow("the page crashed");
  await expect(page.send("Page.enable")).rejects.toThrow("the page crashed");
  await expect(page.settle(1_000, new AbortController().signal)).rejects.toThrow("the page crashed");
});
