// The interactive session in what a terminal can do to it: shells, tmux, clipboards, long and strange texts.
import { execFileSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../support/acp-client.ts";
import { call, callTools, hold, say } from "../support/model-server/model-server.ts";
import { HERMES, openedIn, startIn, terminalBench } from "../support/terminal-session.ts";

const ENTER = "\r";
const CTRL_V = "\u0016";
const CTRL_Z = "\u001a";

const bench = terminalBench();

test("code in an answer is coloured by its language, and copied without a change", async () => {
  const { model } = bench();
  const code = "const name = 'a<b && c'; // why";
  model.script(say("Ready."), say(`\`\`\`ts\n${code}\nlet last = 1;\n\`\`\`\n`));
  const terminal = await openedIn(bench());
  terminal.type(`begin${ENTER}`);
  await terminal.until("Ready.");
  await terminal.settled(); // the highlighter loads with the first turn
  terminal.type(`show${ENTER}`);
  await terminal.until("let last = 1;");
  expect(terminal.text).toContain(code);
  const cells =
    terminal.cells.find((row) =>
      row
        .map(({ text }) => text)
        .join("")
        .includes("name = 'a<b"),
    ) ?? [];
  const at = (word: string) =>
    cells[
      cells
        .map(({ text }) => text || " ")
        .join("")
        .indexOf(word)
    ];
  expect([at("const")?.color, at("'a<b")?.color, at("// why")?.isDim, at("name")?.color]).toEqual([
    3,
    2,
    true,
    undefined,
  ]);
});

test("Ctrl+V attaches the picture of the clipboard, and says what is missing without one", async () => {
  const { model } = bench();
  const programs = temporaryFolder("hermes-clipboard-");
  const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  writeFileSync(join(programs, "wl-paste"), `#!/bin/sh\n[ -e "${programs}/picture" ] && echo ${png} | base64 -d\n`);
  chmodSync(join(programs, "wl-paste"), 0o755);
  model.script(say("A dot."));
  const PATH = `${programs}:${process.env["PATH"]}`;
  const terminal = await openedIn(bench(), { environment: { PATH } });
  terminal.type(CTRL_V);
  await terminal.until("holds no picture");
  writeFileSync(join(programs, "picture"), "");
  terminal.type(CTRL_V);
  await terminal.until("The next message has the picture");
  terminal.type(`what is it?${ENTER}`);
  await terminal.until("A dot.");
  expect(JSON.stringify(model.requests.at(-1)?.body.messages.at(-1))).toContain(png.slice(0, 40));
});

test("a plan is live while it changes, and printed once", async () => {
  const { model } = bench();
  const plan = (first: string, second: string) => ({
    todos: [
      { id: "1", content: "Find the cause", status: first },
      { id: "2", content: "Mend it", status: second },
    ],
  });
  const held = hold();
  model.script(
    callTools(call("todo", plan("in_progress", "pending"))),
    callTools(call("todo", plan("completed", "in_progress"))),
    { parts: [held.part, call("todo", plan("completed", "completed"))] },
    say("All done."),
  );
  const terminal = await openedIn(bench());
  terminal.type(`go${ENTER}`);
  await held.reached;
  await terminal.until("◐ Mend it");
  held.release();
  await terminal.until("All done.");
  expect(terminal.text.match(/Mend it/g)).toHaveLength(1);
  expect(terminal.text).toContain("☑ Mend it");
});

test("a new user chooses a model in the session, and asks", async () => {
  const { model, environment } = bench();
  const { HERMES_BASE_URL: _url, HERMES_MODEL: _model, HERMES_API_KEY: _key, ...none } = environment;
  model.lookUps.set("/models", { data: [{ id: "gpt-4.1" }, { id: "gpt-5" }] });
  model.respondWith(() => say("Welcome."));
  const terminal = startIn({ ...bench(), environment: none });
  await terminal.until("Type /setup to choose one.");
  terminal.type("/setup");
  await terminal.until("→ setup");
  terminal.type(ENTER);
  await terminal.until(/\d+ {2}Other Endpoint/);
  const [, number = ""] = /(\d+) {2}Other Endpoint/.exec(terminal.text) ?? [];
  for (const [question, answer] of [
    [/1-\d+: /, number],
    ["Base URL, such", model.baseUrl],
    ["Key (leave empty for none)", "sk-live-key-123456"],
    ["Number or name of the model", "gpt-5"],
  ] as const) {
    await terminal.until(question);
    terminal.type(`${answer}${ENTER}`);
  }
  await terminal.until("Hermes now uses gpt-5");
  await terminal.until("A new session begins.");
  terminal.type(`hello${ENTER}`);
  await terminal.until("Welcome.");
  expect(terminal.text).not.toContain("sk-live-key");
});

test("Ctrl+Z gives the terminal to the shell, fg takes it back, and kill -9 leaves the shell usable", async () => {
  const { model } = bench();
  model.respondWith(() => say("Here I am."));
  const shell = startIn(bench(), { program: "/bin/bash", args: ["--norc", "-i"], environment: { PS1: "shell$ " } });
  await shell.until("shell$");
  shell.type(`${HERMES}${ENTER}`);
  await shell.until("test-model");
  shell.type(CTRL_Z);
  await shell.until("Stopped");
  expect([shell.marksPastes, shell.showsCursor].at(1)).toBe(true);
  shell.type(`echo $((6*7))${ENTER}`);
  await shell.until(/^42$/m);
  shell.type(`fg${ENTER}`);
  await shell.until((text) => text.lastIndexOf("test-model") > text.indexOf("42"));
  shell.type(`hi${ENTER}`);
  await shell.until("Here I am.");
  shell.type(CTRL_Z);
  await shell.until((text) => text.split("Stopped").length === 3);
  shell.type(`kill -9 %1; sleep 0.2; echo $((7*7))${ENTER}`);
  await shell.until(/^49$/m);
});

test("wide, combining and right-to-left characters are whole, and the cursor stands behind them", async () => {
  const { model } = bench();
  const texts = ["日本語のテキスト", "e\u0301a\u0308o\u0302", "مرحبا بالعالم", "👩‍👩‍👧‍👦 family", "한국어"];
  model.script(say(texts.join("\n\n")));
  const terminal = await openedIn(bench(), { columns: 30 });
  terminal.type("日本e\u0301");
  await terminal.until("❯ 日本e\u0301");
  await terminal.until(() => terminal.cursor.col === 2 + 5);
  terminal.type(ENTER);
  await terminal.until("한국어");
  for (const text of texts) expect(terminal.text.normalize("NFC")).toContain(text.normalize("NFC"));
  expect(JSON.stringify(model.requests.at(-1)?.body.messages)).toContain("日本e\u0301");
});

test("a paste of 2 MB becomes a marker and is sent whole", async () => {
  const { model } = bench();
  model.script(say("Read it."));
  const terminal = await openedIn(bench());
  const pasted = Array.from({ length: 25_000 }, (_, index) => `line ${index} `.padEnd(80, "x")).join("\n");
  terminal.type(`\u001b[200~${pasted}\u001b[201~`);
  await terminal.until("[paste #1 +25000 lines]");
  expect(terminal.written.length).toBeLessThan(100_000);
  terminal.type(ENTER);
  await terminal.until("Read it.");
  expect(JSON.stringify(model.requests.at(-1)?.body.messages.at(-1)).length).toBeGreaterThan(2_000_000);
  expect(terminal.text).toMatch(/line 19\s+x+\n {2}… 2,\d{3},\d{3} more characters/);
  expect(terminal.written.length).toBeLessThan(100_000);
});

test("5,000 lines of an answer are in the scrollback once, and nothing clears it", async () => {
  const { model } = bench();
  const text = Array.from({ length: 5_000 }, (_, index) => `- row ${index} of the list`).join("\n");
  model.script(say(text));
  const terminal = await openedIn(bench());
  terminal.type(`list${ENTER}`);
  await terminal.until("row 4999 of");
  await terminal.until((shown) => !shown.includes("⚕ ❯"));
  const rows = [...terminal.text.matchAll(/row (\d+) of/g)].map(([, number]) => Number(number));
  expect(rows).toEqual(Array.from({ length: 5_000 }, (_, index) => index));
  for (const clearing of ["[2J", "[3J", "c"]) expect(terminal.written).not.toContain(`\u001b${clearing}`);
});

test("on a slow line an answer is whole, costs less than three times its length, and Esc stops a turn", async () => {
  const { model } = bench();
  const text = Array.from({ length: 300 }, (_, index) => `- row ${index} of the list`).join("\n");
  const gate = hold();
  model.script(say(text), { parts: [gate.part] });
  const terminal = await openedIn(bench());
  const end = terminal.slowDown(40);
  const before = terminal.written.length;
  terminal.type(`list${ENTER}`);
  await terminal.until("row 299 of");
  expect(terminal.written.length - before).toBeLessThan(3 * text.length);
  await terminal.until((shown) => !shown.includes("⚕ ❯"));
  const rows = [...terminal.text.matchAll(/row (\d+) of/g)].map(([, number]) => Number(number));
  expect(rows).toEqual(Array.from({ length: 300 }, (_, index) => index));
  terminal.type(`again${ENTER}`);
  await gate.reached;
  terminal.type("\u001b");
  await terminal.until("Stopped.");
  end();
  gate.release();
});

test("in tmux, an answer survives a resize in the pane's own history", async () => {
  const { model, cwd, environment } = bench();
  const held = hold();
  const line = (index: number) => `Sentence ${index} stands here with some more words in it.\n\n`;
  const [first, second] = [0, 20].map((from) => Array.from({ length: 20 }, (_, index) => line(from + index)).join(""));
  model.script({ parts: [{ type: "text", text: first ?? "" }, held.part, { type: "text", text: second ?? "" }] });
  const socket = `hermes-${process.pid}`;
  const tmux = (...args: readonly string[]) =>
    execFileSync("tmux", ["-L", socket, "-f", "/dev/null", ...args], { cwd, env: environment, encoding: "utf8" });
  onTestFinished(() => void tmux("kill-server"));
  tmux("new-session", "-d", "-x", "80", "-y", "24", HERMES);
  const shown = () => tmux("capture-pane", "-p", "-J", "-S", "-");
  await expect.poll(shown).toContain("test-model");
  tmux("send-keys", "write", "Enter");
  await held.reached;
  tmux("resize-window", "-x", "50", "-y", "15");
  held.release();
  await expect.poll(shown).toContain("Sentence 39");
  await expect.poll(shown).not.toContain("⚕ ❯");
  const text = shown().replaceAll(/\s+/g, " ");
  const counts = Array.from({ length: 40 }, (_, index) => text.split(`Sentence ${index} stands`).length - 1);
  expect(counts).toEqual(counts.map(() => 1));
});

test("a pipe that is closed early ends the command without a trace", async () => {
  const { model } = bench();
  model.script(say("word ".repeat(200_000)));
  const line = `${HERMES} tell | head -c 5; echo " ends with \${PIPESTATUS[0]}"`;
  const shell = startIn(bench(), { program: "/bin/bash", args: ["-c", line] });
  await shell.until(/ends with \d+/);
  expect(shell.text).not.toMatch(/EPIPE|at .*\.js:\d/);
});

test("a window of 20 columns and 5 rows shows answers, requests and the message that is written", async () => {
  const { model } = bench();
  const words = Array.from({ length: 40 }, (_, index) => `word${index}`);
  model.script(callTools(call("terminal", { command: "curl -X POST https://example.com/x" })), say(words.join(" ")));
  const terminal = await openedIn(bench(), { columns: 20, rows: 5 });
  terminal.type(`start the work now please${ENTER}`);
  await terminal.until("Reject");
  await terminal.untilTyped("n", () => model.requests.length > 1);
  await terminal.until("word39");
  expect(terminal.text.match(/word\d+/g)).toEqual(words);
  terminal.type("a message that is longer than one line");
  await terminal.until(() => terminal.cursor.line === "  one line"); // the cursor moves after the text is drawn
  expect(terminal.written).not.toContain("\u001b[3J");
});
