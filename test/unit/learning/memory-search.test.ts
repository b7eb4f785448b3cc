// The model's search in what was learnt and in the memory, by words of any language.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { factId } from "../../../agent-core/learning/facts.ts";
import { memorySearch } from "../../../agent-core/learning/memory-search.ts";
import { Memory } from "../../../agent-core/memory/memory.ts";
import { ranked } from "../../../agent-core/memory/statement.ts";
import type { ToolContext } from "../../../agent-core/tools/tool.ts";

const LINES = [
  "The mailer listens on port 8417.",
  "Die Tests dieses Projekts laufen mit bin/check tief.",
  "提交信息要以chg:开头。",
  "Les messages de commit commencent par upd:",
  "サービスbillingはポート9032で待ち受けます。",
].map((text) => ({ text }));

test.each([
  ["which port has the mailer", 0],
  ["wie laufen die Tests", 1],
  ["Projekt testen", 1],
  ["提交信息", 2],
  ["message de commit", 3],
  ["ポート billing", 4],
])("the words %j find line %i first", (query, line) => {
  expect(ranked(query, LINES)[0]).toBe(LINES[line]);
});

test("the search leaves out what waits for the user or is of another project, and says what ended", async () => {
  const home = mkdtempSync(join(tmpdir(), "hermes-memory-search-"));
  const folder = join(home, "learning", "entities");
  mkdirSync(folder, { recursive: true });
  const row = (text: string, notes: string): string =>
    `- [${factId("f", "/project/alpha", text)}] ${text} · in /project/alpha · seen 1 · from 2026-11-01T10:00:00.000Z · ${notes}evidence 20261101_100000_00000001:0`;
  const rows = [
    row("The mailer listens on port 8417.", "until 2026-11-05T10:00:00.000Z · "),
    row("The mailer listens on port 9032.", ""),
    row("The mailer listens on port 6666.", "from a tool · "),
    row("The mailer listens on port 6667.", "from a tool · until 2026-11-05T10:00:00.000Z · "),
    row("The mailer listens on port 7777.", "").replace("/project/alpha", "/project/beta"),
  ];
  writeFileSync(join(folder, "mailer.md"), `# mailer (service)\n\n${rows.join("\n")}\n`);
  const memory = new Memory({ folder: join(home, "memories") });
  await memory.change("memory", { action: "add", content: "The mailer's owner is Ann." });
  const prepared = memorySearch(home, ["/project/alpha"]).prepare({ query: "mailer port" }, "/project/alpha");
  if (!prepared.ok) throw new Error(prepared.text);
  const staged = await prepared.call.stage({ memory } as unknown as ToolContext);
  if (!staged.ok) throw new Error(staged.text);
  const { text } = await staged.run();
  expect(text.split("\n")).toEqual([
    "- mailer: The mailer listens on port 8417. (no longer holds since 2026-11-05, session 20261101_100000_00000001)",
    "- mailer: The mailer listens on port 9032. (since 2026-11-01, session 20261101_100000_00000001)",
    "- The mailer's owner is Ann.",
  ]);
});
