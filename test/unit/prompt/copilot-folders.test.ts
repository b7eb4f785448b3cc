// Folders of instructions that the workspace's settings of VS Code name for Copilot.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { contextFiles } from "../../../agent-core/agent/prompt-builder.ts";
import { nodeHost } from "../../../agent-core/host/node-host.ts";
import { projectContext } from "../../../agent-core/prompt/project-context.ts";

test.each([".github/instructions", "docs", "./docs", "docs/", "packages/ui/.instructions"])(
  "of the folder %s, which the settings name, the files of instructions are read and no other text",
  async (folder) => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "hermes-copilot-folders-")));
    onTestFinished(() => rmSync(root, { recursive: true }));
    const put = (path: string, text: string): void => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    };
    put(".vscode/settings.json", JSON.stringify({ "chat.instructionsFilesLocations": { [folder]: true, src: false } }));
    put(`${folder}/deep/a.instructions.md`, "---\napplyTo: '**'\n---\nthe rule");
    for (const name of ["README.md", "deep/b.md", "c.txt"]) put(`${folder}/${name}`, "no rule");
    put("src/d.instructions.md", "no rule");
    const files = contextFiles(nodeHost(), { roots: [root], trusted: () => true, report: () => undefined });
    expect((await projectContext(root, files))?.match(/the rule|no rule/g)).toEqual(["the rule"]);
  },
);
