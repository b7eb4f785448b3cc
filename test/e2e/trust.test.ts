import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pictureOfFailure, VSCodeWindow } from "../support/vscode-browser.ts";

// A workspace that the user has not trusted yet: chat and reading only, said in one line, until there is trust.
describe("a workspace without trust", () => {
  let window: VSCodeWindow;

  beforeAll(async () => {
    window = await VSCodeWindow.open({
      name: "trust",
      askForTrust: true,
      settings: { "security.workspace.trust.startupPrompt": "never" },
    });
    await window.openPanel();
  });

  pictureOfFailure(() => window);

  afterAll(async () => {
    await window.close();
  });

  const line = () => window.panel.getByText("This workspace is not trusted");

  test("the panel explains the restriction, and nothing is written", async () => {
    await line().waitFor();
    await window.send("replace two with TWO in a.txt then read a.txt");
    await window.panel.getByText("has not trusted this workspace").first().waitFor();
    await window.pictures("untrusted");
    expect(window.readFile("a.txt")).toBe("one\ntwo\nthree\n");
  });

  test("no command runs", async () => {
    await window.send("run touch ran.txt");
    await expect.poll(() => window.panel.getByText("has not trusted this workspace").count()).toBeGreaterThan(1);
    expect(() => window.readFile("ran.txt")).toThrow();
  });

  test("after the user trusts the workspace, the same conversation continues with edits", async () => {
    await window.panel.getByRole("button", { name: "Manage Trust" }).click();
    await window.page
      .locator(".workspace-trust-editor")
      .getByRole("button", { name: /^Trust$/ })
      .first()
      .click();
    await line().waitFor({ state: "detached" });
    await window.send("replace two with TWO in a.txt");
    await expect.poll(() => window.readFile("a.txt")).toBe("one\nTWO\nthree\n");
    expect(await window.panel.locator(".user .bubble").count()).toBe(3);
  });
});
