import { expect, test } from "vitest";
import type { MentionItem } from "../../../../agent-core/protocol/attachments.ts";
import { bestMentions, FileIndex, matchItems, withFolders } from "../../../../extension/attachments/rank-mentions.ts";

const PATHS = [
  ...["README.md", "src/prices.js", "src/basket.js", "src/basket.test.js"],
  ...["webview/state/reduce.ts", "webview/views/reduce-motion/icon.tsx", "docs/state of reduce/old.md"],
];
const never = () => false;
const { signal } = new AbortController();

async function indexOf(paths: readonly string[]): Promise<FileIndex> {
  const index = new FileIndex();
  await index.replace(withFolders(paths.map((path) => ({ root: 0, path }))));
  return index;
}

test("the search finds files by their names first, and folders too", async () => {
  const index = await indexOf(PATHS);
  const found = async (query: string) => (await index.search(query, never, signal)).map(({ path }) => path);
  expect((await found("reduce")).slice(0, 2)).toEqual(["webview/state/reduce.ts", "webview/views/reduce-motion"]);
  expect(await found("bskt")).toEqual(["src/basket.js", "src/basket.test.js"]);
  expect(await found("nothing like it")).toEqual([]);
});

test("the words before the last one, or before a slash, match the folders", async () => {
  const index = await indexOf(PATHS);
  const found = async (query: string) => (await index.search(query, never, signal)).map(({ path }) => path);
  expect(await found("state/red")).toEqual(["webview/state/reduce.ts"]);
  expect(await found("webview icon")).toEqual(["webview/views/reduce-motion/icon.tsx"]);
  expect(await found("src/")).toEqual(["src/prices.js", "src/basket.js", "src/basket.test.js"]);
});

test("files in use come earlier, and the matched letters are marked", async () => {
  const index = await indexOf(PATHS);
  const [first] = await index.search("basket", ({ path }) => path === "src/basket.test.js", signal);
  expect(first).toMatchObject({ path: "src/basket.test.js", marks: [[0, 6]] });
});

test("accents and double letters are found by base letters, and base letters by accents", async () => {
  const names = ["grüße.ts", "strasse.ts", "re\u0301sume\u0301.md", "Œuvre.md", "한글.md".normalize("NFD")];
  const index = await indexOf(names.map((name) => `tür/${name}`));
  const found = async (query: string) =>
    (await index.search(query, never, signal)).map(({ path, marks }) => [path.slice(path.indexOf("/") + 1), marks]);
  for (const query of ["grusse", "grüße", "gru\u0308ße", "GRÜSSE", "tur/gruß"]) {
    expect(await found(query), query).toEqual([[names[0], [[0, query.endsWith("ß") ? 4 : 5]]]]);
  }
  expect(await found("straße")).toEqual([["strasse.ts", [[0, 7]]]]);
  expect(await found("résumé")).toEqual([[names[2], [[0, 8]]]]);
  expect(await found("oeuvre")).toEqual([["Œuvre.md", [[0, 5]]]]);
  expect(await found("글")).toMatchObject([[names[4], {}]]);
  const session = {
    attachment: { kind: "session", sessionId: "s", label: "Größe der Übersicht" },
    icon: "x",
    marks: [],
  };
  expect(matchItems("grosse", [session as MentionItem], 1)).toMatchObject([{ item: { marks: [[0, 5]] } }]);
});

test("a stopped search rejects, and removed files are gone", async () => {
  const index = await indexOf(PATHS);
  await expect(index.search("a", never, AbortSignal.abort())).rejects.toThrow();
  await index.replace([{ root: 0, path: "new.ts", isFolder: false }]);
  expect(await index.search("basket", never, signal)).toEqual([]);
  expect(index.size).toBe(1);
});

test("a source whose name starts with the query comes before files", () => {
  const item = (attachment: MentionItem["attachment"]): MentionItem => ({ attachment, icon: "x", marks: [] });
  const file = item({ kind: "file", uri: "file:///problems.ts", label: "problems.ts" });
  const places = matchItems(
    "prob",
    [item({ kind: "problems", label: "Problems" }), item({ kind: "changes", label: "x" })],
    1,
  );
  const [first, second, ...others] = bestMentions([{ item: file, score: 1 }], places);
  expect(first).toMatchObject({ attachment: { kind: "problems" }, marks: [[0, 4]] });
  expect([second, others]).toEqual([file, []]);
});
