import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import { AgentProcess } from "../../../extension/agent/agent-process.ts";
import { ChatSession } from "../../../extension/chat/chat-session.ts";
import { EditProblems } from "../../../extension/problems/edit-problems.ts";
import { DiskEdits } from "../../../extension/review/disk-edits.ts";
import { AgentTerminals } from "../../../extension/terminals/agent-terminals.ts";
import { unansweredRequests, workspaceFolder } from "../support/agent-side.ts";
import { closeEditors } from "../support/editors.ts";
import { ReviewDesk } from "../support/review-desk.ts";

const TEXT = "one\ntwo\nthree\n";

// A session of a program that is not Hermes, in a real window: its edits are reviewed, and its end is explained.
suite("other agents", () => {
  const folder = join(workspaceFolder(), "agents-suite");
  const [edited, created, removed] = ["a.txt", "new.txt", "old.txt"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const nobody = (): void => undefined;
  const problems = new EditProblems();
  const terminals = new AgentTerminals({ output: nobody, exit: nobody });
  const log = vscode.window.createOutputChannel("Other agents", { log: true });
  let desk: ReviewDesk;
  let diskEdits: DiskEdits;
  let agent: AgentProcess;
  let session: ChatSession;

  suiteSetup(async () => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(edited, TEXT);
    writeFileSync(removed, "old\n");
    desk = new ReviewDesk();
    diskEdits = new DiskEdits({ note: (edit) => desk.applied.noteOnDisk(edit), warn: nobody });
    agent = new AgentProcess(
      {
        name: "foreign",
        title: "Foreign",
        command: process.execPath,
        env: { ELECTRON_RUN_AS_NODE: "1" },
        args: [join(__dirname, "..", "..", "..", "test", "support", "foreign-agent.mjs")],
      },
      {
        terminals,
        problems,
        requests: unansweredRequests(),
        editReview: desk.editReview,
        sessionUpdate: ({ update }) => session.receive(update),
        sessionLists: { building: nobody, importing: nobody, changed: nobody },
        jobFinished: nobody,
        panels: { setProcesses: nobody, setExtensions: nobody },
        skillProblems: { show: nobody },
        learning: { changed: () => undefined },
      },
      log,
    );
    session = new ChatSession(
      {
        diskEdits,
        place: async () => ({ cwd: folder, additionalDirectories: [], mcpServers: [], _meta: { hermes: {} } }),
        warnings: () => [],
        promptBlocks: async ({ text }) => [{ type: "text", text }],
        command: nobody,
        observed: nobody,
        rememberModel: nobody,
        opened: nobody,
        closing: nobody,
        closed: nobody,
        began: nobody,
        changed: () => turnChanged.fire(),
      },
      agent,
    );
    agent.onDidEnd(() => session.dispatch({ type: "agent-ended" }));
  });

  suiteTeardown(async () => {
    await closeEditors();
    for (const part of [agent, diskEdits, problems, terminals, log, turnChanged]) part.dispose();
    await desk.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  const turnChanged = new vscode.EventEmitter<void>();

  /** Runs a turn; resolves to its events as JSON. */
  async function turn(text: string): Promise<string> {
    const events: unknown[] = [];
    const stop = session.log.observe((event) => events.push(event));
    const ended = new Promise<void>((resolve) => {
      const subscription = turnChanged.event(() => {
        if (session.isRunning) return;
        subscription.dispose();
        resolve();
      });
    });
    session.prompt({ text });
    await ended;
    stop();
    return JSON.stringify(events);
  }

  test("edits through the editor and on the disk come up for review, and their undo restores the files", async () => {
    await turn("write through the editor");
    assert.equal(readFileSync(edited, "utf8"), "one\nTWO\nthree\n");
    await turn("write on the disk");
    assert.equal(readFileSync(edited, "utf8"), "one\nTWO\nthree\nfour\n");
    assert.deepEqual(desk.review.files.map(({ path }) => path).toSorted(), [edited, created, removed]);
    assert.equal(desk.review.hunks(vscode.Uri.file(edited)).length, 2);
    for (const path of [edited, created, removed]) await desk.review.undoFile(vscode.Uri.file(path));
    assert.equal(readFileSync(edited, "utf8"), TEXT);
    assert.equal(readFileSync(removed, "utf8"), "old\n");
    assert.equal(existsSync(created), false);
  });

  test("the end of the program is explained, and the next message starts it again", async () => {
    const end = await turn("crash");
    assert.match(end, /Foreign ended with exit code 3: no more disk\. Your next message starts it again\./);
    assert.match(await turn("hello"), /you said: hello/);
  });
});
