// Downloads of pages, of which the browser has stored the files.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Download } from "playwright-core";
import { expect, test } from "vitest";
import { Downloads } from "../../../agent-core/browser/downloads.ts";
import { temporaryFolder } from "../../support/acp-client.ts";

test("two downloads with one name that end at the same time are two files", async () => {
  const profile = temporaryFolder("hermes-profile-");
  const [partial, folder] = [join(profile, "downloads"), join(profile, "kept")];
  mkdirSync(partial);
  const notes: string[] = [];
  const downloads = new Downloads(partial, folder, (note) => notes.push(note));
  const stored = (text: string): Download => {
    const path = join(partial, text);
    writeFileSync(path, text);
    const download = { suggestedFilename: () => "report.pdf", failure: async () => null, path: async () => path };
    return { ...download, delete: async () => undefined } as unknown as Download;
  };
  await Promise.all([downloads.keep(stored("one")), downloads.keep(stored("other"))]);
  const names = readdirSync(folder).toSorted();
  expect(names).toEqual(["report-2.pdf", "report.pdf"]);
  expect(names.map((name) => readFileSync(join(folder, name), "utf8")).toSorted()).toEqual(["one", "other"]);
  expect(notes).toHaveLength(2);
});
