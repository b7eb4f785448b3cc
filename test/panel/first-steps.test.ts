import { describe, expect, test } from "vitest";
import type { WorkspaceFacts } from "../../agent-core/protocol/panel-events.ts";
import { emptyState } from "../../webview/state/state.ts";
import { useFedPanel } from "../support/panel/fed-panel.ts";

const THEMES = ["light", "dark", "high-contrast"] as const;

// The panel where the user needs a next step: before the first message, after an error, after a plan.
describe("next steps in the panel", () => {
  const panel = useFedPanel();

  const button = (name: string | RegExp) => panel().page.getByRole("button", { name });
  const posted = () => panel().posted.at(-1);
  const facts = (changed: Partial<WorkspaceFacts>) =>
    panel().tell({ type: "facts", facts: { ...emptyState.facts, agent: { state: "ready" }, ...changed } });
  const pictures = async (state: string): Promise<void> => {
    await panel().pictures(state, THEMES, [320, 900]);
    await panel().setTheme("dark");
    await panel().setWidth(320);
  };

  test("the empty page has no suggestion before the host knows the model", async () => {
    await panel().page.getByText("Reads and edits files and runs commands").waitFor();
    expect(await panel().locator(".start-row").count()).toBe(0);
  });

  test("the empty page offers suggestions from the workspace and the last sessions", async () => {
    const session = { updatedAt: Date.now(), messages: 4, isCurrent: false };
    await facts({
      start: {
        recent: [
          { ...session, sessionId: "old-1", title: "Fix the total of the prices" },
          { ...session, sessionId: "old-2", title: "A long title of a session about the parser of the configuration" },
        ],
        suggestions: [
          { icon: "git-compare", label: "Review my changes", detail: "4 changed files", prompt: "Review them." },
          { icon: "error", label: "Fix the 3 problems", detail: "src/prices.ts", prompt: "Fix them." },
          { icon: "beaker", label: "Run the tests and fix what fails", detail: "", prompt: "Run them." },
        ],
      },
    });
    await button(/^Review my changes/).waitFor();
    await pictures("start-page");
    await button(/^Review my changes/).click();
    await expect.poll(posted).toEqual({ type: "prompt", text: "Review them." });
    await button(/^Fix the total/).click();
    await expect.poll(posted).toEqual({ type: "session-open", sessionId: "old-1" });
  });

  test("the page that sets up a model leads to a real one first", async () => {
    const keys = ["OpenAI", "OpenRouter", "Anthropic", "Other endpoint"].map((title) => ({
      ...{ provider: title.toLowerCase(), title, hasKey: false },
    }));
    await facts({ setup: { offers: [], keys, canClose: false } });
    await panel().tell({ type: "command", id: "c1", command: { kind: "show-setup" } });
    expect(await panel().locator(".offer-first").textContent()).toBe("OpenAI");
    await pictures("setup-page");
    await facts({ setup: null });
  });
});
