// The journeys with an agent behind a server, in a home of its own, while the connection breaks again and again.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/acp-client.ts";
import { sweep } from "../support/scale.ts";
import { type ServedAgent, serveAgent, TOKEN, type Wire, wireTo } from "../support/served-agent.ts";
import { pictureOfFailure, VSCodeWindow } from "../support/vscode-browser.ts";

/** Time between two cuts. Milliseconds. */
const CUT_EVERY_MS = sweep(20_000, 2_000);

describe("an agent of another machine, whose connection breaks again and again", () => {
  let agent: ServedAgent;
  let wire: Wire;
  let window: VSCodeWindow;
  let cuts = 0;
  let cutting: NodeJS.Timeout;
  /** Folder of the other machine. */
  const folder = temporaryFolder("hermes-far-");
  const read = (name: string): string => readFileSync(join(folder, name), "utf8");

  beforeAll(async () => {
    writeFileSync(join(folder, "a.txt"), "one\ntwo\nthree\n");
    agent = await serveAgent({ roots: [folder] });
    wire = await wireTo(agent.port);
    const agents = { far: { url: `ws://127.0.0.1:${wire.port}` } };
    window = await VSCodeWindow.open({ name: "remote-agent", settings: { "hermes.agents": agents } });
    await window.openPanel();
    await window.runCommand("Hermes: Choose Agent…");
    await window.quickInput.getByText("far", { exact: true }).click();
    const token = window.quickInput.locator("input[type=password]");
    await token.fill(TOKEN);
    await token.press("Enter");
    cutting = setInterval(() => {
      cuts += 1;
      wire.cut();
    }, CUT_EVERY_MS);
  });

  pictureOfFailure(() => window);

  afterAll(async () => {
    clearInterval(cutting);
    await window.close();
    await wire.stop();
    await agent.stop();
    rmSync(folder, { recursive: true });
  });

  const composer = () => window.panel.getByRole("textbox", { name: "Message far" });
  const send = async (text: string): Promise<void> => {
    await composer().fill(text);
    await composer().press("Enter");
  };

  test("answers, edits a file and runs a command", async () => {
    await send("replace two with TWO in a.txt then run cat a.txt");
    await expect.poll(() => window.toolCalls("completed").count()).toBe(2);
    expect(read("a.txt")).toBe("one\nTWO\nthree\n");
    expect(await window.toolCalls().count()).toBe(2);
  });

  test("asks, and one answer counts once, also when it comes while the connection is away", async () => {
    await window.panel.getByRole("combobox", { name: "Mode" }).selectOption("ask");
    await send("run echo once >> made.txt");
    const request = window.panel.getByRole("alertdialog");
    await request.waitFor();
    wire.cut();
    await request.getByRole("button", { name: "Allow Once" }).click();
    await expect.poll(() => existsSync(join(folder, "made.txt"))).toBe(true);
    await expect.poll(() => window.toolCalls("completed").count()).toBe(3);
    expect(read("made.txt")).toBe("once\n");
  });

  test("takes the changes of an earlier message back", async () => {
    await send("/checkpoint restore 1 both confirm");
    await expect.poll(() => read("a.txt")).toBe("one\ntwo\nthree\n");
    await expect.poll(() => cuts).toBeGreaterThan(0);
  });
});
