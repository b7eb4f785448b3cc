// Downloads of pages, whose events a test emits in place of the browser.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { DevTools } from "../../../agent-core/browser/devtools.ts";
import { Downloads } from "../../../agent-core/browser/downloads.ts";
import { temporaryFolder } from "../../support/acp-client.ts";

test("two downloads with one name that end at the same time are two files", async () => {
  const profile = temporaryFolder("hermes-profile-");
  const folder = join(profile, "kept");
  const listeners = new Map<string, (event: object) => void>();
  const devtools = {
    on: (event: string, listener: (event: object) => void) => listeners.set(event, listener),
    send: () => Promise.resolve({}),
  } as unknown as DevTools;
  const notes: string[] = [];
  const downloads = new Downloads(devtools, { profile, folder }, (note) => notes.push(note));
  await downloads.begin();
  for (const guid of ["one", "other"]) {
    listeners.get("Browser.downloadWillBegin")?.({ guid, suggestedFilename: "report.pdf" });
    writeFileSync(join(profile, "downloads", guid), guid);
  }
  for (const guid of ["one", "other"]) listeners.get("Browser.downloadProgress")?.({ guid, state: "completed" });
  await downloads.settle(new AbortController().signal);
  const names = readdirSync(folder).toSorted();
  expect(names).toEqual(["report-2.pdf", "report.pdf"]);
  expect(names.map((name) => readFileSync(join(folder, name), "utf8")).toSorted()).toEqual(["one", "other"]);
  expect(notes).toHaveLength(2);
});
