import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import * as vscode from "vscode";
import { AgentProcess, type AgentProgram } from "../../../extension/agent/agent-process.ts";
import { ChatSession } from "../../../extension/chat/chat-session.ts";
import { provideRemoteFiles, showRemoteChange, uriIn } from "../../../extension/documents/remote-files.ts";
import { EditProblems } from "../../../extension/problems/edit-problems.ts";
import { DiskEdits } from "../../../extension/review/disk-edits.ts";
import { AgentTerminals } from "../../../extension/terminals/agent-terminals.ts";
import { unansweredRequests, workspaceFolder } from "../support/agent-side.ts";
import { closeEditors } from "../support/editors.ts";
import { ReviewDesk } from "../support/review-desk.ts";

const ROOT = join(__dirname, "..", "..", "..");
const NODE = { ELECTRON_RUN_AS_NODE: "1" };
const TOKEN = "a-token-of-this-suite";
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
    ({ agent, session } = open({
      name: "foreign",
      title: "Foreign",
      command: process.execPath,
      env: NODE,
      args: [join(ROOT, "test", "support", "foreign-agent.mjs")],
    }));
  });

  function open(program: AgentProgram): { readonly agent: AgentProcess; readonly session: ChatSession } {
    const started = new AgentProcess(
      program,
      {
        terminals,
        problems,
        requests: unansweredRequests(),
        editReview: desk.editReview,
        sessionUpdate: ({ update }) => opened.receive(update),
        sessionLists: { building: nobody, importing: nobody, changed: nobody },
        jobFinished: nobody,
        panels: { setProcesses: nobody, setExtensions: nobody },
        skillProblems: { show: nobody },
        learning: { changed: () => undefined },
      },
      log,
      { get: async () => TOKEN, store: async () => undefined, delete: async () => undefined },
    );
    const opened = new ChatSession(
      {
        diskEdits,
        worktree: () => Promise.reject(new Error("no session here has a worktree")),
        place: async () => ({ cwd: folder, additionalDirectories: [], mcpServers: [], _meta: { hermes: {} } }),
        warnings: () => [],
        promptBlocks: async ({ text }) => [
          { type: "text", text },
          { type: "resource_link", uri: vscode.Uri.file(edited).toString(), name: "a.txt" },
        ],
        compose: nobody,
        observed: nobody,
        rememberModel: nobody,
        opened: nobody,
        closing: nobody,
        closed: nobody,
        began: nobody,
        changed: () => turnChanged.fire(),
        stepped: nobody,
        edited: nobody,
      },
      started,
    );
    started.onDidEnd(() => opened.dispatch({ type: "agent-ended" }));
    return { agent: started, session: opened };
  }

  suiteTeardown(async () => {
    await closeEditors();
    for (const part of [agent, diskEdits, problems, terminals, log, turnChanged]) part.dispose();
    await desk.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  const turnChanged = new vscode.EventEmitter<void>();

  /** Runs a turn; resolves to its events as JSON. */
  async function turn(text: string, of: ChatSession = session): Promise<string> {
    const events: unknown[] = [];
    const stop = of.log.observe((event) => events.push(event));
    const ended = new Promise<void>((resolve) => {
      const subscription = turnChanged.event(() => {
        if (of.isRunning) return;
        subscription.dispose();
        resolve();
      });
    });
    of.prompt({ text });
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
    for (const path of [edited, created, removed]) await desk.review.undo(vscode.Uri.file(path));
    assert.equal(readFileSync(edited, "utf8"), TEXT);
    assert.equal(readFileSync(removed, "utf8"), "old\n");
    assert.equal(existsSync(created), false);
  });

  test("the end of the program is explained, and the next message starts it again", async () => {
    const end = await turn("crash");
    assert.match(end, /Foreign ended with exit code 3: no more disk\. Your next message starts it again\./);
    assert.match(await turn("hello"), /you said: hello/);
  });

  test("an agent of another machine works in its folder there, and a hunk of its edits is reverted from here", async () => {
    const there = mkdtempSync(join(tmpdir(), "hermes-there-"));
    writeFileSync(join(there, "far.txt"), "from there\n");
    const served = spawn(process.execPath, [join(ROOT, "dist", "cli.js"), "serve", "--listen", "0", "--root", there], {
      env: { ...process.env, ...NODE, HERMES_HOME: there, HERMES_PROVIDER: "offline", HERMES_SERVE_TOKEN: TOKEN },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = await once(createInterface({ input: served.stdout }), "line");
    const url = `ws://127.0.0.1:${/port=(\d+)/.exec(String(line))?.[1]}`;
    const remote = open({ name: "far", title: "Far", command: url, args: [], env: {}, remote: { url } });
    try {
      assert.match(await turn("read far.txt", remote.session), /from there/);
      assert.equal(remote.agent.title, `Far (${hostname()})`);
      assert.equal(remote.agent.offers.remoteCwd, there);
      // The extension of this window has taken the usual scheme.
      const uri = uriIn(remote.session, "far.txt").with({ scheme: "hermes-remote-test" });
      const files = provideRemoteFiles({ of: () => remote.agent }, uri.scheme);
      await showRemoteChange(uri, "as it was\n");
      const tab = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
      assert.ok(tab instanceof vscode.TabInputTextDiff);
      assert.equal((await vscode.workspace.openTextDocument(tab.original)).getText(), "as it was\n");
      const document = await vscode.workspace.openTextDocument(tab.modified);
      assert.equal(document.getText(), "from there\n");
      await replaceText(document, "as it was\n");
      assert.ok(await document.save());
      assert.equal(readFileSync(join(there, "far.txt"), "utf8"), "as it was\n");
      // The file has changed there since: nothing is lost.
      writeFileSync(join(there, "far.txt"), "newer\n");
      await replaceText(document, "mine\n");
      assert.equal(await document.save(), false);
      assert.equal(readFileSync(join(there, "far.txt"), "utf8"), "newer\n");
      await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
      files.dispose();
    } finally {
      remote.agent.dispose();
      served.kill();
      await once(served, "exit");
      rmSync(there, { recursive: true, force: true });
    }
  });
});

async function replaceText(document: vscode.TextDocument, text: string): Promise<void> {
  const edit = new vscode.WorkspaceEdit();
  edit.replace(document.uri, new vscode.Range(0, 0, document.lineCount, 0), text);
  assert.ok(await vscode.workspace.applyEdit(edit));
}
