import axe from "axe-core";
import { beforeAll, describe, expect, test } from "vitest";
import type { Attachment } from "../../agent-core/protocol/attachments.ts";
import type { HistoryItem, HostMessage } from "../../agent-core/protocol/panel-events.ts";
import { emptyState } from "../../webview/state/state.ts";
import { useFedPanel } from "../support/panel/fed-panel.ts";
import { axeFailures, type Theme, themes } from "../support/panel/panel-theme.ts";

const text = (shown: string) => ({ type: "content", content: { type: "text", text: shown } }) as const;
const file = (label: string): Attachment => ({ kind: "file", uri: `file:///project/${label}`, label });

const stored = (sessionId: string, title: string): HistoryItem => ({
  sessionId,
  title,
  updatedAt: Date.now(),
  messages: 3,
  costUsd: 0.02,
  isCurrent: sessionId === "s1",
});

/** A word in each of the terminal's colours. */
const COLOURS = [31, 32, 33, 34, 35, 36].map((colour) => `\u001B[${colour}mcolour\u001B[0m `).join("");
const LONG_OUTPUT = `${"line\n".repeat(60)}${COLOURS}`;

const extension = { source: "config.yaml", detail: "node server.mjs", actions: ["disable", "restart"] } as const;

// Each state is checked in each theme. The test plays the host.
describe("the panel passes the checks of axe", () => {
  const panel = useFedPanel();

  beforeAll(() => panel().page.evaluate(axe.source));

  const tell = (message: HostMessage): Promise<void> => panel().tell(message);
  const command = (kind: "show-sessions" | "show-extensions") => tell({ type: "command", id: kind, command: { kind } });
  const passes = async (): Promise<void> => {
    const failures: Record<string, unknown> = {};
    for (const theme of Object.keys(themes) as Theme[]) {
      await panel().setTheme(theme);
      failures[theme] = await panel().page.evaluate(axeFailures());
    }
    await panel().setTheme("dark");
    await panel().setWidth(200);
    failures["200 px"] = await panel().page.evaluate(axeFailures());
    await panel().setWidth(320);
    const none = Object.fromEntries(Object.keys(failures).map((name) => [name, []]));
    expect(failures).toEqual(none);
  };

  test("on the empty page", async () => {
    await tell({
      type: "facts",
      facts: {
        ...emptyState.facts,
        agent: { state: "ready" },
        start: {
          hasRepository: true,
          recent: [stored("s2", "Mend the average")],
          suggestions: [
            { icon: "search", label: "Explain this project", detail: "Reads the files", prompt: "Explain" },
          ],
        },
        suggested: [file("prices.ts")],
      },
    });
    await panel()
      .page.getByRole("button", { name: /Explain this project/ })
      .waitFor();
    await passes();
  });

  test("on a conversation with cards, under a heading with its title", async () => {
    await panel().feed({ kind: "prompt", id: "p", text: "Mend it", attachments: [file("prices.ts")] });
    await panel().update(
      { sessionUpdate: "session_info_update", title: "Mend the average" },
      { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "The divisor may be zero." } },
      {
        sessionUpdate: "agent_message_chunk",
        content: {
          type: "text",
          text: "It **divides** by `0`, see [docs](https://example.com) and [`prices`](https://example.com).\n\n```ts\nconst none: number = 0; // cents\n```\n",
        },
      },
      {
        sessionUpdate: "tool_call",
        toolCallId: "read",
        title: "Read prices.ts",
        kind: "read",
        status: "completed",
        content: [text("one\ntwo")],
      },
      {
        sessionUpdate: "tool_call",
        toolCallId: "edit",
        title: "Edit prices.ts",
        kind: "edit",
        status: "completed",
        content: [
          { type: "diff", path: "/project/prices.ts", oldText: "one\ntwo\nthree\n", newText: "one\n2\nthree\n" },
        ],
      },
      ...(["good", "bad"] as const).map((id) => ({
        ...({
          sessionUpdate: "tool_call",
          toolCallId: id,
          title: "npm test",
          kind: "execute",
          status: "completed",
        } as const),
        content: [{ type: "terminal", terminalId: id } as const],
      })),
      { sessionUpdate: "plan", entries: [{ content: "Mend it", priority: "medium", status: "in_progress" }] },
      { sessionUpdate: "usage_update", used: 5_000, size: 10_000 },
    );
    await panel().feed(
      { kind: "terminal-output", terminalId: "bad", text: LONG_OUTPUT },
      { kind: "terminal-exit", terminalId: "bad", exitCode: 1, signal: null },
      { kind: "terminal-exit", terminalId: "good", exitCode: 0, signal: null },
      { kind: "turn-end", stopReason: "end_turn" },
    );
    for (const id of ["read", "edit", "good", "bad"]) {
      const head = panel().locator(`[data-tool-call="${id}"] .fold-summary`).first();
      if ((await head.getAttribute("aria-expanded")) === "false") await head.click();
    }
    await panel().page.getByText("exit code 1").waitFor();
    await panel().locator(".diff-number").first().waitFor();
    expect(await panel().page.getByRole("heading", { level: 1 }).textContent()).toBe("Mend the average");
    await panel().feed({ kind: "worktree", name: "mend-the-average-of-the-prices" });
    await panel().page.getByRole("button", { name: "mend-the-average" }).click();
    await expect.poll(() => panel().posted.some(({ type }) => type === "manage-worktree")).toBe(true);
    // A screen reader would spell out the marks of Markdown.
    const announced = panel().page.getByRole("status").filter({ hasText: "has finished" });
    expect(await announced.textContent()).toBe(
      "Hermes has finished. It divides by 0, see docs and prices. const none: number = 0; // cents",
    );
    await passes();
  });

  test("keeps the edits to review and their buttons in sight in a low window, as at 200%", async () => {
    const review = ["a.ts", "b.ts"].map((path) => {
      return { path, label: path, isWaiting: false, pendingHunks: 1, added: 2, removed: 1 };
    });
    await tell({ type: "facts", facts: { ...emptyState.facts, agent: { state: "ready" }, review } });
    await panel().page.setViewportSize({ width: 320, height: 220 });
    const keep = panel().page.getByRole("button", { name: "Keep", exact: true });
    await keep.waitFor();
    const { y = 0, height = 0 } = (await keep.boundingBox()) ?? {};
    const lines = await panel().locator(".dock-lines").boundingBox();
    expect(y).toBeGreaterThanOrEqual(lines?.y ?? 0);
    expect(y + height).toBeLessThanOrEqual((lines?.y ?? 0) + (lines?.height ?? 0));
    expect(y).toBeGreaterThanOrEqual(0);
    await panel().setWidth(320);
  });

  test("with requests, a warning, and edits that wait", async () => {
    const review = [{ path: "a.ts", label: "a.ts", isWaiting: true, pendingHunks: 1, added: 2, removed: 1 }];
    await tell({ type: "facts", facts: { ...emptyState.facts, agent: { state: "ready" }, review } });
    const options = [
      { optionId: "once", name: "Allow Once", kind: "allow_once" },
      { optionId: "always", name: "Always Allow", kind: "allow_always" },
    ] as const;
    const command = "npm publish";
    const grant = "`npm publish` with any arguments";
    await panel().feed(
      { kind: "notice", severity: "warning", text: "The hook failed." },
      {
        kind: "permission",
        requestId: "r1",
        options,
        reasons: ["Needs the network"],
        command,
        grant,
        toolCall: { toolCallId: "r1", title: "publish" },
      },
      { kind: "question", requestId: "q1", message: "Which?", choices: ["this", "that"] },
    );
    await panel().page.getByText("1 waits for you").waitFor();
    expect(await panel().locator(".ask-grant code").textContent()).toBe(command);
    await expect.poll(() => panel().page.getByRole("button", { name: "Skip" }).isEnabled()).toBe(true);
    await passes();
    // The focus is seen around a button, which may have the colour of its outline.
    await panel().page.getByRole("button", { name: "Allow Once" }).focus();
    await panel().page.keyboard.press("Shift+Tab");
    await panel().page.keyboard.press("Tab");
    const offset = await panel().page.evaluate("parseFloat(getComputedStyle(document.activeElement).outlineOffset)");
    expect(offset).toBeGreaterThan(0);
    await panel().feed(
      { kind: "permission-end", requestId: "r1", label: "Rejected" },
      { kind: "question-end", requestId: "q1", label: "No answer" },
    );
  });

  test("with the list after @", async () => {
    await panel().page.getByRole("textbox", { name: "Message Hermes" }).fill("@pri");
    const searched = () => panel().posted.findLast((message) => message.type === "mention-search");
    await expect.poll(() => searched()?.query).toBe("pri");
    const item = (label: string) =>
      ({ attachment: file(label), detail: "src", icon: "file", marks: [[0, 3]] }) as const;
    await tell({
      type: "mentions",
      id: searched()?.id ?? 0,
      items: [item("prices.ts"), item("private.ts")],
      isComplete: false,
    });
    await panel().page.getByText("private.ts").waitFor();
    await passes();
    await panel().page.keyboard.press("Escape");
  });

  test("on the list of sessions", async () => {
    await command("show-sessions");
    const sessions = [stored("s1", "Mend the average"), stored("s2", "Explain this project")];
    const page = { query: "", everywhere: false, isArchive: false, sessions, hasMore: true, isLoading: false };
    await tell({ type: "history", update: { kind: "page", page } });
    await panel().page.getByText("Explain this project").waitFor();
    await passes();
    await panel().page.keyboard.press("Escape");
  });

  test("on the page of extensions", async () => {
    const items = [
      { ...extension, id: "a", kind: "mcp", name: "files", state: "on", tools: [{ name: "read", on: true }] },
      { ...extension, id: "b", kind: "mcp", name: "broken", state: "failed", error: "The server ended with code 3." },
      { ...extension, id: "c", kind: "mcp", name: "notes", state: "needs-consent", actions: ["allow", "disable"] },
      { ...extension, id: "d", kind: "skill", name: "review", state: "off", actions: ["enable"] },
    ] as const;
    await tell({ type: "facts", facts: { ...emptyState.facts, extensions: [{ sessionId: "s1", items }] } });
    await command("show-extensions");
    await panel().page.getByText("broken").waitFor();
    await passes();
  });
});
