import type { SessionUpdate } from "@zed-industries/agent-client-protocol";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Attachment } from "../../agent-core/protocol/attachments.ts";
import type { HistoryItem, PanelEvent } from "../../agent-core/protocol/panel-events.ts";
import { emptyState } from "../../webview/state/state.ts";
import { useFedPanel } from "../support/panel/fed-panel.ts";
import { HOSTILE_PAYLOADS } from "../support/panel/hostile-payloads.ts";
import { TOO_WIDE } from "../support/panel/too-wide.ts";

type Payload = { readonly text: string; readonly id: string };

/** All rows of the virtual list are in the page at this height. Pixels. */
const HEIGHT = 60_000;

/** Texts of a model, a page or a file name, in every place of the panel that shows them. */
describe("hostile text", () => {
  const panel = useFedPanel();
  const seen: string[] = [];

  beforeAll(() => {
    const { page } = panel();
    const own = new URL(page.url()).origin; // it loads the highlighter of a language with its first code
    page.on("request", (request) => {
      if (!request.url().startsWith(`${own}/chunks/`)) seen.push(`request: ${request.url()}`);
    });
    page.on("dialog", (dialog) => seen.push(`dialog: ${dialog.message()}`));
    page.on("framenavigated", (frame) => seen.push(`navigation: ${frame.url()}`));
  });

  beforeEach(async () => {
    await panel().reset();
    await panel().page.evaluate(WATCH);
    await panel().page.setViewportSize({ width: 200, height: HEIGHT });
    seen.length = 0;
  });

  const texts = HOSTILE_PAYLOADS.map((text, index) => ({ text, id: `h${index}` }));
  /** The rows of a conversation are tall, so it shows a part of the texts at a time. */
  const batches = [0, 1, 2, 3].map((part) =>
    texts.filter(({ text }, index) => index % 4 === part && text.trim() !== ""),
  );
  const content = (text: string) => ({ type: "text", text }) as const;

  const isContained = async (selector: string, count = texts.length): Promise<void> => {
    const shown = async (): Promise<number> => {
      await panel().page.evaluate(OPEN_FOLDS);
      return panel().locator(selector).count();
    };
    await expect.poll(shown).toBe(count);
    expect(await panel().page.evaluate(HARM)).toEqual([]);
    expect(await panel().locator("body").evaluate(TOO_WIDE)).toEqual([]);
    expect(seen).toEqual([]);
  };

  test("there are at least 60 payloads, each of them once", () => {
    expect(new Set(HOSTILE_PAYLOADS).size).toBe(HOSTILE_PAYLOADS.length);
    expect(HOSTILE_PAYLOADS.length).toBeGreaterThanOrEqual(60);
  });

  test.each(batches)("as an answer of the model", async (...batch) => {
    const message = ({ text, id }: Payload): SessionUpdate => ({
      sessionUpdate: "agent_message_chunk",
      messageId: id,
      content: content(`${text}\n\nend`),
    });
    await panel().update(...batch.map(message));
    await panel().feed({ kind: "turn-end", stopReason: "end_turn" });
    await isContained(".answer", batch.length);
  });

  test.each(batches)("as a thought, a message of the user, a notice and an error", async (...batch) => {
    const thought = ({ text, id }: Payload): SessionUpdate => ({
      sessionUpdate: "agent_thought_chunk",
      messageId: id,
      content: content(text),
    });
    await panel().update(...batch.map(thought));
    await panel().feed(
      ...batch.flatMap(({ text, id }): PanelEvent[] => [
        { kind: "prompt", id, text },
        { kind: "notice", severity: "warning", text },
        { kind: "turn-end", error: text, fault: "unknown" },
      ]),
    );
    await isContained(".user", batch.length);
  });

  test.each(batches)("as title, file name, diff, output and link of a tool call", async (...batch) => {
    const call = ({ text, id: toolCallId }: Payload): SessionUpdate => ({
      sessionUpdate: "tool_call",
      toolCallId,
      title: text,
      kind: "fetch",
      status: "failed",
      locations: [{ path: text }],
      rawInput: { command: text, path: text, query: text },
      content: [
        { type: "content", content: content(text) },
        { type: "content", content: { type: "resource_link", name: text, title: text, uri: text } },
        { type: "diff", path: text, oldText: text, newText: `${text}!` },
        { type: "terminal", terminalId: toolCallId },
      ],
    });
    await panel().update(...batch.map(call));
    await panel().feed(
      ...batch.map(({ text, id }) => ({ kind: "terminal-output", terminalId: id, text: `${text}\n` }) as const),
    );
    await isContained("[data-tool-call]", batch.length);
  });

  test("as a name of an attachment", async () => {
    const attachments = texts.map(
      ({ text, id }): Attachment => ({ kind: "file", uri: `file:///project/${id}`, label: text }),
    );
    await panel().feed({ kind: "prompt", id: "p", text: "look", attachments });
    await isContained(".user .chip");
  });

  test("as a title of a session, with its folder and the text around a match", async () => {
    const sessions = texts.map(
      ({ text, id }): HistoryItem => ({
        sessionId: id,
        title: text,
        updatedAt: 1,
        folder: text,
        agent: text,
        isCurrent: false,
        snippet: { text, marks: [[0, 3]] },
      }),
    );
    const page = { query: "", everywhere: true, isArchive: false, sessions, hasMore: false, isLoading: false };
    await panel().tell({ type: "command", id: "1", command: { kind: "show-sessions" } });
    await panel().page.getByRole("checkbox", { name: "All Folders" }).check();
    await panel().tell({ type: "history", update: { kind: "page", page } });
    await isContained(".history-row");
    await panel().page.getByRole("searchbox").press("Escape");
  });

  test("as an entry of the plan", async () => {
    const entries = texts.map(({ text }) => ({ content: text, priority: "medium", status: "in_progress" }) as const);
    await panel().update({ sessionUpdate: "plan", entries });
    await isContained(".plan-list li");
  });

  test("as a permission request, a question and a queued message", async () => {
    await panel().feed(
      ...texts.flatMap(({ text, id }): PanelEvent[] => [
        {
          kind: "permission",
          requestId: id,
          reasons: [text],
          command: text,
          grant: text,
          task: text,
          toolCall: { toolCallId: id, title: text, content: [{ type: "content", content: content(text) }] },
          options: [{ optionId: "y", name: text, kind: "allow_once" }],
        },
        { kind: "question", requestId: `q${id}`, message: text, choices: [text, `${text}!`] },
      ]),
      { kind: "queue", prompts: texts.map(({ text, id }) => ({ id, text, state: "waiting" })) },
    );
    await isContained('[role="alertdialog"], .ask', texts.length * 2);
  });

  test("as names of the workspace: files under review, processes, extensions and suggestions", async () => {
    const { sessionId } = panel();
    await panel().tell({
      type: "facts",
      facts: {
        ...emptyState.facts,
        agent: { state: "failed", message: HOSTILE_PAYLOADS.join(" ") },
        review: texts.map(({ text, id }) => ({
          path: `/project/${id}`,
          label: text,
          isWaiting: false,
          pendingHunks: 1,
          added: 1,
          removed: 1,
        })),
        processes: [
          {
            sessionId,
            processes: texts.map(({ text, id }) => ({ id, command: text, startedAt: 1, state: "running" })),
          },
        ],
        start: {
          hasRepository: false,
          recent: [],
          suggestions: texts.map(({ text }) => ({ icon: "git-commit", label: text, detail: text, prompt: text })),
        },
      },
    });
    await isContained(".review-file");
    await panel().tell({ type: "facts", facts: emptyState.facts });
  });
});

/** Runs in the browser: notes each script and each load that the page's policy refuses. */
const WATCH = `
  globalThis.ran = undefined;
  globalThis.refused = [];
  globalThis.watches ??= addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI, sample }) => {
    refused.push([effectiveDirective, blockedURI, sample].join(" "));
  }) ?? true;
`;

/** Runs in the browser: opens all folds. */
const OPEN_FOLDS = `(async () => {
  for (const fold of document.querySelectorAll('#root [aria-expanded="false"][data-hides]')) fold.click();
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
})()`;

/** Runs in the browser: what a text has done that no text may do. */
const HARM = `(() => {
  const elements =
    "script, iframe, object, embed, base, meta, link, form[action], style, template, video, audio, marquee, math math, math a, math [href], math [id], :not(.math) > math, details, " +
    "svg, img:not([src^='data:image/']), source, foreignObject, " +
    "a[href^='javascript:' i], a[href^='command:' i], a[href^='data:' i], a[href^='vbscript:' i], a[href^='vscode:' i]";
  const bad = [...document.querySelectorAll("#root")].flatMap((root) => [...root.querySelectorAll(elements)]);
  const handlers = [...document.querySelectorAll("#root *")].filter((one) =>
    one.getAttributeNames().some((name) => name.startsWith("on")),
  );
  const raw = new RegExp("[\\\\u0000-\\\\u0008\\\\u000b\\\\u000c\\\\u000e-\\\\u001f\\\\u007f-\\\\u009f\\\\u202a-\\\\u202e\\\\u2066-\\\\u2069]");
  const walker = document.createTreeWalker(document.getElementById("root"), NodeFilter.SHOW_TEXT);
  const rough = [];
  while (walker.nextNode()) {
    const { data, parentElement } = walker.currentNode;
    if (raw.test(data)) rough.push(parentElement.className + ": " + JSON.stringify(data.slice(0, 40)));
  }
  return [
    ...(globalThis.ran === undefined ? [] : ["a script ran"]),
    ...refused.map((one) => "refused: " + one),
    ...[...bad, ...handlers].map((one) => "element: " + one.outerHTML.slice(0, 90)),
    ...new Set(rough.map((one) => "raw: " + one)),
  ];
})()`;
