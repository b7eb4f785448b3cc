import type { SessionConfigOption } from "@zed-industries/agent-client-protocol";
import { afterEach, describe, expect, test } from "vitest";
import type { HermesTask } from "../../agent-core/protocol/delegation.ts";
import type { HistoryItem, PanelEvent, WorkspaceFacts } from "../../agent-core/protocol/panel-events.ts";
import { emptyState } from "../../webview/state/state.ts";
import { readBundle } from "../support/manifest.ts";
import { delegation, task } from "../support/panel/delegated-tasks.ts";
import { useFedPanel } from "../support/panel/fed-panel.ts";
import { openPanel, usePanel } from "../support/panel/open-panel.ts";
import { TOO_WIDE } from "../support/panel/too-wide.ts";

/** Runs in the browser: controls that lie partly outside the panel. */
const CUT_OFF = `[...document.querySelectorAll("#root :is(button, input, textarea, select)")]
  .filter((control) => control.getBoundingClientRect().right > document.documentElement.clientWidth)
  .map((control) => control.outerHTML)`;

/** Runs in the browser: all that the page says, to eyes and to screen readers. */
const TEXTS = `(() => {
  const walker = document.createTreeWalker(document.querySelector("#root"), NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) texts.push(walker.currentNode.data.trim());
  for (const name of ["title", "aria-label", "placeholder"]) {
    for (const element of document.querySelectorAll("#root [" + name + "]")) texts.push(element.getAttribute(name));
  }
  return [...new Set(texts)];
})()`;

const OPEN_FOLDS = `document.querySelectorAll('.fold-summary[aria-expanded="false"]').forEach((head) => head.click())`;

/** English texts that are not the same in German, with any arguments. */
const ENGLISH = Object.entries(readBundle("de"))
  .filter(([english, german]) => english !== german && /[a-z]{3}/i.test(english.replaceAll(/\{\d\}/g, "")))
  .map(([english]) => {
    const parts = english.split(/\{\d\}/).map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`));
    return new RegExp(`^${parts.join("[^]+")}$`);
  });

const englishIn = (texts: readonly string[]) => texts.filter((text) => ENGLISH.some((english) => english.test(text)));

const stored = (sessionId: string, title: string, facts: Partial<HistoryItem> = {}): HistoryItem => ({
  sessionId,
  title,
  updatedAt: Date.now(),
  messages: 3,
  costUsd: 0.02,
  isCurrent: false,
  ...facts,
});
const running = (id: string, facts: Partial<HermesTask>): HermesTask =>
  task(id, { attempt: 2, iterations: 3, tokens: 12_400, startedAt: Date.now() - 4_000, sessionId: id, ...facts });
const verdict = { correctness: 0.9, completeness: 0.8, confidence: 0.7, reason: "ok" };

const content = (text: string) => ({ type: "content", content: { type: "text", text } }) as const;
const prompt: PanelEvent = { kind: "prompt", id: "p", text: "Repariere den Mittelwert" };

/** Pages and parts of the panel. The test plays the host. */
describe("a German panel", () => {
  const panel = useFedPanel("de");

  const facts = (changed: Partial<WorkspaceFacts>) =>
    panel().tell({ type: "facts", facts: { ...emptyState.facts, agent: { state: "ready" }, ...changed } });
  const command = (kind: "show-sessions" | "show-extensions" | "show-setup" | "find") =>
    panel().tell({ type: "command", id: kind, command: { kind } });
  const shown = (text: string) => panel().page.getByText(text).first().waitFor();

  const isGermanAndFits = async (name: string): Promise<void> => {
    for (const width of [200, 320]) {
      await panel().setWidth(width);
      expect(await panel().page.evaluate(TOO_WIDE), `${name}, ${width} px`).toEqual([]);
      expect(await panel().page.evaluate(CUT_OFF), `${name}, ${width} px`).toEqual([]);
    }
    expect(englishIn(await panel().page.evaluate(TEXTS)), name).toEqual([]);
    await panel().pictures(`german-${name}`);
  };

  afterEach(() => panel().setWidth(320));

  test("on the empty page", async () => {
    const suggestion = { icon: "search", label: "Dieses Projekt erklären", detail: "", prompt: "Erkläre" };
    await facts({
      isTrusted: false,
      start: { hasRepository: true, recent: [stored("s9", "Mittelwert")], suggestions: [suggestion] },
      sandbox: { isOn: false, text: "bwrap fehlt", advice: "bwrap installieren" },
      suggested: [{ kind: "file", uri: "file:///a.ts", label: "a.ts" }],
      background: [
        { sessionId: "a", state: "asks", isInSight: false },
        { sessionId: "b", state: "asks", isInSight: false },
      ],
    });
    await shown("2 andere Sitzungen warten auf Ihre Antwort");
    await isGermanAndFits("start");
  });

  test("on the page that sets up a model", async () => {
    const offers = [{ choice: "ollama:m", provider: "ollama", title: "Ollama", model: "m" }];
    const keys = [{ provider: "openai", title: "OpenAI", hasKey: true }];
    await facts({ setup: { offers, keys, keyPlace: "", canClose: true } });
    await command("show-setup");
    await shown("Mit einem API-Schlüssel");
    await isGermanAndFits("setup");
    await panel().page.getByRole("button", { name: "Zurück" }).click();
  });

  test("in a conversation with its cards and the bars above the composer", async () => {
    await panel().reset();
    const file = { path: "/w/a.ts", label: "a.ts", pendingHunks: 1, added: 2, removed: 1 };
    const ended = { id: "2", command: "make", startedAt: 0, state: "ended" } as const;
    const waits = { id: "1", command: "npm init", startedAt: 0, state: "waits-for-input" } as const;
    await facts({
      review: [
        { ...file, isWaiting: true },
        { ...file, path: "/w/b.ts", label: "b.ts", isWaiting: false },
      ],
      processes: [{ sessionId: "s2", processes: [waits, { ...ended, note: "code 0" }] }],
    });
    await panel().feed(prompt);
    await panel().update(
      { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "Der Teiler kann 0 sein." } },
      { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "Er teilt durch `0`.\n\n```ts\n1\n```" } },
      {
        ...({ sessionUpdate: "tool_call", toolCallId: "edit", title: "a.ts", kind: "edit", status: "failed" } as const),
        content: [{ type: "diff", path: "/w/a.ts", oldText: "1\n", newText: "2\n" }, content("nein")],
        _meta: { hermes: { durationMs: 2_500 } },
      },
      { sessionUpdate: "plan", entries: [{ content: "Messen", priority: "medium", status: "in_progress" }] },
      { sessionUpdate: "usage_update", used: 9_900, size: 10_000 },
      delegation("d", [
        running("eins", { status: "partial", durationMs: 3_000, files: [{ path: "a.ts", hunks: 2 }] }),
        running("zwei", { status: "checking", dependsOn: ["eins"], verdicts: [{ ...verdict, decision: "amend" }] }),
        task("drei", { dependsOn: ["zwei"] }),
      ]),
    );
    await panel().feed({
      kind: "queue",
      prompts: [
        { id: "q1", text: "Dann die Tests", state: "waiting" },
        { id: "q2", text: "Dann die Doku", state: "waiting" },
      ],
    });
    const verdicts = panel().page.getByText("Überarbeitet und erneut versucht");
    // A fold has folds in it.
    const opened = (): Promise<boolean> =>
      panel()
        .page.evaluate(OPEN_FOLDS)
        .then(() => verdicts.isVisible());
    await expect.poll(opened).toBe(true);
    await isGermanAndFits("conversation");
    await panel().locator(".usage").click();
    await panel().tell({
      type: "context",
      sessionId: "s2",
      context: {
        used: 9_900,
        window: 10_000,
        canCompress: false,
        parts: [
          { part: "system-prompt", tokens: 900 },
          { part: "results", tokens: 9_000 },
        ],
        models: [{ model: "m", inputTokens: 9_000, cachedInputTokens: 100, outputTokens: 90 }],
      },
    });
    await shown("9k ein");
    await isGermanAndFits("context");
    await panel().page.keyboard.press("Escape");
  });

  test("on a plan, and in a session whose worktree is gone", async () => {
    await panel().reset();
    const modes = ["ask", "code", "plan", "auto"].map((value) => ({ value, name: value }));
    const mode = { id: "mode", name: "Modus", category: "mode", type: "select", currentValue: "plan", options: modes };
    await panel().update(
      { sessionUpdate: "config_option_update", configOptions: [mode as SessionConfigOption] },
      { sessionUpdate: "available_commands_update", availableCommands: [{ name: "carry-out", description: "" }] },
    );
    await panel().feed(prompt);
    await panel().update({ sessionUpdate: "session_info_update", _meta: { hermes: { position: 0 } } });
    const plan = { type: "text", text: "1. Lies den Parser.\n2. Ändere ihn." } as const;
    await panel().update({ sessionUpdate: "agent_message_chunk", content: plan });
    await panel().feed({ kind: "turn-end", stopReason: "end_turn" });
    await shown("Plan bearbeiten");
    await isGermanAndFits("plan");
    const folder = "laden.worktrees/repariere-den-mittelwert-der-preise";
    const bundle = readBundle("de");
    const inFolder = (text: string): string => String(bundle[text]).replace("{0}", folder);
    await panel().feed(
      { kind: "worktree", name: "repariere-den-mittelwert-der-preise" },
      { kind: "prompt", id: "p2", text: "Und die Doku" },
      { kind: "turn-end", error: inFolder("The folder of this session is gone: {0}"), fault: "folder-gone" },
    );
    await shown("nicht mehr");
    await isGermanAndFits("folder-gone");
  });

  test("on requests, after an error, and before a restore", async () => {
    await panel().reset();
    await facts({ undone: 2 });
    const option = (optionId: string, kind: "allow_once" | "allow_always" | "reject_once", name: string) =>
      ({ optionId, kind, name }) as const;
    await panel().update({
      sessionUpdate: "user_message_chunk",
      content: { type: "text", text: "Repariere den Mittelwert" },
      _meta: { hermes: { position: 1 } },
    });
    const label = { path: "/w/a.ts", label: "a.ts" };
    await panel().feed(
      {
        kind: "restored",
        hasConversation: true,
        files: [{ ...label, change: "restore" }],
        isUndo: false,
        restoreId: "r",
      },
      {
        ...({ kind: "restore-preview", position: 1 } as const),
        preview: {
          messages: 2,
          files: [
            { ...label, change: "restore", added: 1, removed: 1 },
            { ...label, path: "/w/b.ts", change: "remove", leftAlone: "von Ihnen geändert" },
          ],
        },
      },
      { kind: "turn-end", error: "Zeit abgelaufen", fault: "network" },
      {
        kind: "permission",
        requestId: "1",
        toolCall: { toolCallId: "c" },
        reasons: [],
        command: "rm a",
        grant: "rm",
        options: [
          option("a", "allow_once", "Ja"),
          option("b", "allow_always", "Immer"),
          option("c", "reject_once", "Nein"),
        ],
      },
      { kind: "question", requestId: "2", message: "Welche?", choices: ["diese", "jene"] },
    );
    await panel().page.getByRole("button", { name: "Nein, weil…" }).click();
    await shown("Überspringen");
    await isGermanAndFits("requests");
  });

  test("on the list of sessions and the page of extensions", async () => {
    await command("show-sessions");
    const sessions = [stored("s1", "Mittelwert", { shelf: "pinned" }), stored("s2", "Projekt", { isCurrent: true })];
    sessions.push(stored("s3", "Neue Preise", { folder: "/home/ada/laden.worktrees/repariere-den-mittelwert" }));
    const page = { query: "", everywhere: false, isArchive: false, sessions, hasMore: true, isLoading: false };
    await panel().tell({
      type: "history",
      update: { kind: "page", page: { ...page, building: { done: 1, total: 9 } } },
    });
    await shown("Angeheftet");
    await isGermanAndFits("sessions");
    await panel().locator(".history-actions .codicon-trash").first().click({ force: true });
    await shown("„Mittelwert“ endgültig löschen?");
    await isGermanAndFits("delete");
    await command("show-extensions");
    const one = { source: "config.yaml", detail: "node a.mjs", kind: "mcp" } as const;
    const items = [
      { ...one, id: "a", name: "ablage", state: "on", actions: ["disable"], tools: [{ name: "read", on: false }] },
      { ...one, id: "b", name: "notes", state: "needs-consent", actions: ["allow", "disable"] },
    ] as const;
    await facts({ extensions: [{ sessionId: "s4", items }] });
    await shown("Zustimmung nötig");
    await isGermanAndFits("extensions");
  });
});

describe("the extension in German", () => {
  const panel = usePanel(() => openPanel({ language: "de" }));

  test("brings its texts to the panel, and asks in German for a permission that the hidden panel does not show", async () => {
    await panel().page.getByPlaceholder("Hermes fragen…").waitFor();
    await panel().send("run rm a.txt");
    await panel().page.getByText("Diesen Befehl ausführen?").waitFor();
    await panel().hide();
    await expect.poll(() => panel().warnings.at(-1)?.text).toMatch(/^Hermes möchte ausführen: rm a\.txt/);
    expect(panel().warnings.at(-1)?.titles).toEqual(["Prüfen", "Einmal zulassen", "Ablehnen"]);
    panel().warnings.at(-1)?.choose("Einmal zulassen");
    await panel().hideAndShow();
    await panel().idle();
  });
});
