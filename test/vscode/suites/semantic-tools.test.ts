import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import { editorMethods } from "../../../agent-core/protocol/editor.ts";
import type { RequestMethod } from "../../../agent-core/protocol/method.ts";
import { tools } from "../../../agent-core/tools/editor.ts";
import { FileMemory } from "../../../agent-core/tools/seen-files.ts";
import type { ToolContext } from "../../../agent-core/tools/tool.ts";
import { openEditor } from "../support/editors.ts";
import { openReviewBench, type ReviewBench } from "../support/review-bench.ts";

const SHOP = "export function total(prices: number[]): number {\n  return prices.length;\n}\n";
const USER = 'import { total } from "./shop";\n\nvoid total([1, 2]);\nvoid totl([3]);\n';

// The agent's questions to the real language service of TypeScript.
suite("semantic tools", () => {
  let folder: string;
  let [shop, user] = ["", ""];
  const { signal } = new AbortController();
  let bench: ReviewBench;

  // The package of the tests' server has no compiler of its own.
  const useCompiler = (path: string | undefined) =>
    vscode.workspace.getConfiguration("js/ts").update("tsdk.path", path, vscode.ConfigurationTarget.Global);

  suiteSetup(async () => {
    await useCompiler(join(__dirname, "..", "..", "..", "node_modules", "typescript", "lib"));
    bench = await openReviewBench("semantic-suite");
    ({ folder } = bench);
    [shop, user] = [join(folder, "shop.ts"), join(folder, "user.ts")];
    writeFileSync(
      join(folder, "tsconfig.json"),
      '{ "compilerOptions": { "strict": true, "lib": ["es2022"], "types": [] } }\n',
    );
    writeFileSync(shop, SHOP);
    writeFileSync(user, USER);
  });

  suiteTeardown(async () => {
    await bench.close();
    await useCompiler(undefined);
  });

  const ask = <Method extends RequestMethod>(method: Method, params: Parameters<Method["params"]["parse"]>[0]) => {
    const { editor } = bench.side.host;
    if (editor === undefined) throw new Error("The extension declares no semantic tools.");
    return editor(method, params as never, signal) as Promise<ReturnType<Method["result"]["parse"]>>;
  };

  test("definitions, references, hover, symbols and problems come from the language service", async () => {
    const { symbols } = await ask(editorMethods.symbols, { path: shop, query: "tot" });
    assert.deepEqual(symbols, [{ name: "total", kind: "function", path: shop, line: 1, container: "" }]);
    const place = { path: user, symbol: "total" };
    const { places } = await ask(editorMethods.places, { ...place, relation: "definitions" });
    assert.deepEqual(places, [{ path: shop, line: 1, text: "export function total(prices: number[]): number {" }]);
    const references = await ask(editorMethods.places, { ...place, relation: "references" });
    const lines = references.places.map(({ path, line }) => `${path === shop ? "shop" : "user"}:${line}`);
    assert.deepEqual(lines.toSorted(), ["shop:1", "user:1", "user:3"]);
    const { text } = await ask(editorMethods.hover, place);
    assert.match(text, /total\(prices: number\[\]\): number/);
    // The language service checks only files in a tab.
    const checked = new Promise<void>((resolve) => {
      const subscription = vscode.languages.onDidChangeDiagnostics(({ uris }) => {
        if (!uris.some(({ fsPath }) => fsPath === user)) return;
        if (vscode.languages.getDiagnostics(vscode.Uri.file(user)).length === 0) return;
        subscription.dispose();
        resolve();
      });
    });
    await openEditor(user);
    await checked;
    const { diagnostics } = await ask(editorMethods.diagnostics, { path: user });
    assert.equal(diagnostics[0]?.line, 4);
    assert.match(diagnostics[0].fixes.join(), /Change spelling to 'total'/);
    await assert.rejects(ask(editorMethods.places, { path: user, symbol: "nothing", relation: "references" }), {
      message: `${user} does not contain nothing.`,
    });
  });

  test("a rename is written through the review, never behind it", async () => {
    const context = { host: bench.side.host, cwd: folder, signal, files: new FileMemory() } as unknown as ToolContext;
    const rename = tools.find(({ name }) => name === "editor_rename");
    const prepared = rename?.prepare({ path: "shop.ts", symbol: "total", new_name: "sum" }, folder);
    assert.ok(prepared?.ok);
    const staged = await prepared.call.stage(context);
    assert.ok(staged.ok);
    assert.equal(readFileSync(shop, "utf8"), SHOP);
    const { text } = await staged.run();
    assert.match(text, /^Changes in 2 files:/);
    assert.equal(readFileSync(user, "utf8"), USER.replace("{ total }", "{ sum }").replace("void total(", "void sum("));
    assert.deepEqual(bench.desk.review.files.map(({ path }) => path).toSorted(), [shop, user]);
  });
});
