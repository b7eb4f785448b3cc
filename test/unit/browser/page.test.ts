// The end of a page, whose driver never answers.
import type { Page as Driver } from "playwright-core";
import { expect, test } from "vitest";
import { Page } from "../../../agent-core/browser/page.ts";

test("the end of a page rejects what waits for it, and all that follows, with its first reason", async () => {
  const never = new Promise<never>(() => undefined);
  const driver = { on: () => undefined, setDefaultTimeout: () => undefined, waitForLoadState: () => never };
  const page = new Page(driver as unknown as Driver, { last: 0 }, () => undefined);
  const waiting = page.ask(never);
  page.end(new Error("the page crashed"));
  page.end(new Error("the page was closed"));
  await expect(waiting).rejects.toThrow("the page crashed");
  await expect(page.ask(Promise.resolve())).rejects.toThrow("the page crashed");
  await expect(page.settle(1_000, new AbortController().signal)).rejects.toThrow("the page crashed");
});
