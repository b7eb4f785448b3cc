import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";
import { pictureOfFailure, VSCodeWindow } from "../support/vscode-browser.ts";

const CODE = "export function mean(values) {\n  const sum = values.reduce((a, b) => a + b);\n  return sum / 2;\n}\n";
const ANSWER = `There are two findings.

### mean.js:3 (error)
The sum is divided by 2 instead of the number of values.

\`\`\`suggestion
  return sum / values.length;
\`\`\`

### mean.js:2-2 (warning)
An empty list throws: \`reduce\` has no first value.
`;

function repository(workspace: string): void {
  const git = (...args: string[]) => execFileSync("git", args, { cwd: workspace });
  git("init", "-q", "-b", "main");
  git("add", ".");
  git("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-qm", "first");
  git("checkout", "-qb", "fix/mean");
  writeFileSync(join(workspace, "mean.js"), CODE);
}

// The answer of a review becomes comment threads at the lines, and a suggestion an edit under review.
describe("a review at the line", () => {
  let window: VSCodeWindow;
  let model: ModelServer;
  const thread = (text: string) => window.page.locator(".review-widget", { hasText: text });

  beforeAll(async () => {
    model = await startModelServer();
    window = await VSCodeWindow.open({
      name: "line-review",
      model,
      files: { "mean.js": "// empty\n" },
      prepare: repository,
    });
    await window.openPanel();
  });

  pictureOfFailure(() => window);

  afterAll(async () => {
    await window.close();
    await model.stop();
  });

  test("each finding is a thread at its lines, with its severity", async () => {
    model.script(say(ANSWER));
    await window.runCommand("Hermes: Review My Changes");
    await window.notifications.getByRole("button", { name: "Show the First" }).click();
    await thread("divided by 2").waitFor();
    await thread("divided by 2").getByText("Error", { exact: true }).first().waitFor();
    await thread("An empty list throws").getByText("Warning", { exact: true }).first().waitFor();
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain("-// empty");
    await window.pictures("line-review", ["light", "dark", "high-contrast"]);
  });

  test("a suggestion comes up for review by hunk, and its thread is gone", async () => {
    await thread("divided by 2").getByRole("button", { name: "Apply the Suggestion" }).click();
    await expect.poll(() => window.readFile("mean.js")).toContain("return sum / values.length;");
    await thread("divided by 2").waitFor({ state: "detached" });
    await window.lens("Undo").first().click();
    await expect.poll(() => window.readFile("mean.js")).toBe(CODE);
  });

  test("a branch is reviewed against another one", async () => {
    model.script(say("There are no findings."));
    await window.runCommand("Hermes: Review a Branch or Pull Request…");
    await window.quickInput.getByText("main").first().click();
    await window.panel.getByText("There are no findings.", { exact: true }).waitFor();
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain("git diff main...HEAD");
  });
});
