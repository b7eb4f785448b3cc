import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { projectFolder } from "../../scripts/project.ts";
import { call, callTools, type ModelServer, say, startModelServer } from "../support/model-server/model-server.ts";
import { pictureOfFailure, VSCodeWindow } from "../support/vscode-browser.ts";

const PACKAGES = join(projectFolder, "node_modules/@modelcontextprotocol");
const EVERYTHING = join(PACKAGES, "server-everything/dist/index.js");
const FILESYSTEM = join(PACKAGES, "server-filesystem/dist/index.js");

// The list of servers and their cards have tests in test/panel; here VS Code's own setting configures servers from npm.
describe("MCP servers in VS Code", () => {
  let window: VSCodeWindow;
  let model: ModelServer;

  beforeAll(async () => {
    model = await startModelServer();
    const servers = {
      everything: { command: process.execPath, args: [EVERYTHING, "stdio"] },
      files: { command: process.execPath, args: [FILESYSTEM] },
    };
    window = await VSCodeWindow.open({ name: "mcp", model, settings: { "mcp.servers": servers } });
    await window.openPanel();
  });

  pictureOfFailure(() => window);

  afterAll(async () => {
    await window.close();
    await model.stop();
  });

  test("servers of VS Code's setting show pictures and read files of the workspace", async () => {
    await window.send("/mcp list --wait");
    await window.panel
      .getByText(/files.*on/)
      .first()
      .waitFor();
    const path = join(window.workspace, "a.txt");
    const calls = [call("mcp__everything__get-tiny-image", {}), call("mcp__files__read_text_file", { path })];
    model.script(callTools(...calls), say("Both servers answered."));
    await window.send("use both");
    await window.panel.getByText("Both servers answered.").first().waitFor();
    const picture = window.panel.getByRole("img", { name: "Result of the call" });
    await expect
      .poll(() => picture.evaluate((image) => Number("naturalWidth" in image && image.naturalWidth)))
      .toBeGreaterThan(0);
    await picture.click();
    await window.page.locator(".tab.active", { hasText: "Picture" }).waitFor();
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain("one\\\\ntwo\\\\nthree");
  });
});
