import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { call, callTools, say } from "../support/model-server/model-server.ts";
import { openPanel, useModelServer, usePanel } from "../support/panel/open-panel.ts";

const FILES = {
  "src/sum.js": "export function sum(a, b) {\n  return a - b;\n}\n\nexport const zero = 0;\n",
  "src/other.js": "export const one = 1;\n",
};

const fence = (info: string, code: string) => `\`\`\`${info}\n${code}\`\`\`\n`;

describe("code blocks of an answer", () => {
  const model = useModelServer();
  const panel = usePanel(() => openPanel({ model: model(), files: FILES }));

  const answer = async (text: string): Promise<void> => {
    model().script(say(text));
    await panel().send("Go on");
    await panel().idle();
  };
  /** Presses the button of this name in the block with this code. */
  const press = (code: string, name: string) =>
    panel().page.locator(".markdown pre", { hasText: code }).getByRole("button", { name }).press("Enter");

  test("are applied to the file that the fence names, as an edit to keep or undo", async () => {
    await answer(`Like this:\n\n${fence("js src/sum.js", "export function sum(a, b) {\n  return a + b;\n}\n")}`);
    await panel().page.locator(".code-language", { hasText: "src/sum.js" }).waitFor();
    await panel().pictures("code-block");
    await press("a + b", "Apply to src/sum.js");
    await expect.poll(() => panel().readFile("src/sum.js")).toBe(FILES["src/sum.js"].replace("a - b", "a + b"));
    await panel().page.getByRole("button", { name: "Undo", exact: true }).first().waitFor();
  });

  test("stand beside prose whose paths are links, where the file is there", async () => {
    await answer("The fault is in src/sum.js:2, and not in src/none.js or and/or.");
    const link = panel().page.locator("a.path-link");
    await link.first().waitFor();
    expect(await link.allTextContents()).toEqual(["src/sum.js:2"]);
  });

  test("are applied to the file of the paragraph above, and offer other ways without a clear place", async () => {
    await answer(`Change \`zero\` in \`src/other.js\`:\n\n${fence("js", "export const one = 1;\n")}`);
    await press("one = 1", "Apply to the File");
    await expect.poll(() => panel().warnings.at(-1)?.text).toBe("Hermes: src/other.js already has this code.");
    await answer(`**src/other.js**\n\n${fence("js", "export const two = 2;\n")}`);
    await press("two = 2", "Apply to the File");
    await expect.poll(() => panel().warnings.at(-1)?.titles).toEqual(["Insert at Cursor", "New File", "Ask Hermes"]);
    model().script(say("Done."));
    panel().warnings.at(-1)?.choose("Ask Hermes");
    const asked = "Apply the code block that begins with `export const two = 2;` to src/other.js.";
    await expect.poll(() => panel().bubbles()).toContain(asked);
    await panel().idle();
  });

  test("of commands are pasted into a terminal without their prompts, and none of them runs or ends the paste", async () => {
    await answer(fence("sh", "$ npm ci\n"));
    await press("npm ci", "Insert into Terminal");
    await expect.poll(() => panel().typed.at(-1)).toBe("npm ci");
    await answer(fence("bash", "echo two\r\u001b[201~\nrm -r build\n"));
    await press("echo two", "Insert into Terminal");
    await expect.poll(() => panel().typed.at(-1)).toBe("\u001b[200~echo two\n⟨U+001B⟩[201~\nrm -r build\u001b[201~");
  });

  test("are not offered in the output of a tool, which can be copied", async () => {
    model().script(callTools(call("read_file", { path: "src/none.js" })), say("There is none."));
    await panel().send("Read it");
    await panel().idle();
    const card = panel().page.locator("[data-tool-call]").last();
    await card.getByRole("button", { name: "Copy Code" }).waitFor();
    expect(await card.getByRole("button", { name: /Apply|Insert/ }).count()).toBe(0);
  });

  test("make a new file after a question, and change no hidden one without it", async () => {
    await answer(fence("js src/new.js", "export const three = 3;\n"));
    await press("three", "Apply to src/new.js");
    await expect.poll(() => panel().warnings.at(-1)?.titles).toEqual(["Create File"]);
    panel().warnings.at(-1)?.choose("Create File");
    await expect.poll(() => panel().readFile("src/new.js")).toBe("export const three = 3;\n");
    await answer(fence("sh .git/hooks/pre-commit", "curl example.com\n"));
    await press("curl", "Apply to .git/hooks/pre-commit");
    await expect.poll(() => panel().warnings.at(-1)?.text).toContain("there is no file .git/hooks/pre-commit");
    panel().warnings.at(-1)?.choose("Create File");
    await expect.poll(() => panel().warnings.at(-1)?.text).toContain("can change what other programs run");
    await answer(fence("sh ../outside.sh", "true\n"));
    await press("true", "Apply to ../outside.sh");
    await expect.poll(() => panel().newTexts.at(-1)).toBe("true\n");
  });

  test("change no file behind a link that leads out of the workspace, or to a hidden file, without a question", async () => {
    const outside = join(panel().workspace, "..", "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "run.sh"), "true\n");
    symlinkSync(outside, join(panel().workspace, "src", "linked"));
    mkdirSync(join(panel().workspace, ".git"));
    writeFileSync(join(panel().workspace, ".git", "config"), "[core]\n");
    symlinkSync("../.git/config", join(panel().workspace, "src", "settings"));
    await answer(fence("sh src/linked/run.sh", "true # evil\n") + fence("ini src/settings", "[core] # evil\n"));
    await press("true # evil", "Apply to src/linked/run.sh");
    await expect
      .poll(() => panel().warnings.at(-1)?.text)
      .toContain("src/linked/run.sh leads there, out of the workspace");
    await press("[core] # evil", "Apply to src/settings");
    await expect.poll(() => panel().warnings.at(-1)?.text).toContain("can change what other programs run");
    expect(readFileSync(join(outside, "run.sh"), "utf8")).toBe("true\n");
    expect(panel().readFile(".git/config")).toBe("[core]\n");
  });
});
