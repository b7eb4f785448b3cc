import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { call, callTools, hold, type ModelServer, say } from "../support/model-server/model-server.ts";
import { openedIn, type Started, startIn, terminalBench } from "../support/terminal-session.ts";

const ENTER = "\r";
const ESCAPE = "\u001b";
const CTRL_C = "\u0003";
const CTRL_D = "\u0004";

const bench = terminalBench();
let model: ModelServer;
let home: string;
let cwd: string;

beforeEach(() => {
  ({ model, home, cwd } = bench());
});

const start = (options?: Started) => startIn(bench(), options);
const opened = (options?: Started) => openedIn(bench(), options);

test("a message is answered in Markdown, and the cursor stands in the next message", async () => {
  model.script(say("Hello **you**.\n\n- one\n- two\n"));
  const terminal = await opened();
  expect(terminal.text).toContain("⚕ Hermes");
  terminal.type(`hi there${ENTER}`);
  await terminal.until("- two");
  await terminal.until((text) => !text.includes("⚕ ❯"));
  expect(terminal.text).toContain("❯ hi there\n\nHello you.\n\n- one\n- two\n\n❯");
  await terminal.until(() => terminal.cursor.col === 2 && terminal.cursor.line === "❯ ");
  terminal.type(CTRL_D);
  expect(await terminal.exited).toBe(0);
  expect(terminal.text).toMatch(/To go on: hermes --resume \S+$/);
  expect([terminal.marksPastes, terminal.showsCursor]).toEqual([false, true]);
  for (const sequence of ["[2J", "[3J", "[?1000h", "[?1049h"])
    expect(terminal.written).not.toContain(`${ESCAPE}${sequence}`);
});

test("an approval shows the diff, takes no key that was typed before, and is answered by one key", async () => {
  const held = hold();
  model.script(
    { parts: [held.part, call("write_file", { path: "a.txt", content: "one\nTWO\nthree\n" })] },
    callTools(call("terminal", { command: "rm b.txt" })),
    say("Done."),
  );
  const terminal = await opened({ args: ["--mode", "ask"] });
  terminal.type(`change it${ENTER}`);
  await held.reached;
  held.release();
  await terminal.until("y Allow Once");
  terminal.type("y");
  await terminal.until("- two");
  expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("one\ntwo\nthree\n");
  // The keys count after a pause without any.
  await terminal.untilTyped("y", () => readFileSync(join(cwd, "a.txt"), "utf8").includes("TWO"));
  await terminal.until(/⚠ rm b\.txt/);
  await terminal.untilTyped("n", () => terminal.text.includes("✗ Reject"));
  await terminal.until("Done.");
  expect(terminal.text).toMatch(/┊ ✍️ write {5}a\.txt {2}\d+\.\ds/);
  expect(terminal.text).toMatch(/┊ 💻 \$ {9}rm b\.txt {2}\S+ rejected/);
});

test("a message that is sent before the agent is loaded is answered, and a missing model is named", async () => {
  model.script(say("Early."));
  const early = start();
  await early.until("❯");
  early.type(`at once${ENTER}`);
  await early.until("Early.");
  const environment = { HERMES_BASE_URL: "", HERMES_MODEL: "", HERMES_API_KEY: "" };
  await start({ environment }).until("No language model is set up. Type /setup to choose one.");
});

test("a password is typed without showing, and only the command gets it", async () => {
  writeFileSync(join(cwd, "ask.sh"), '[ "$("$SUDO_ASKPASS" "Password of the vault:")" = geheim ] && echo un"locked"\n');
  model.script(callTools(call("terminal", { command: "sh ask.sh", unsandboxed: true })), say("Open now."));
  const terminal = await opened({ args: ["--yes"] });
  terminal.type(`unlock${ENTER}`);
  await terminal.until("Password of the vault:");
  await terminal.untilTyped("g", () => terminal.text.includes("vault: •"));
  const typed = terminal.text.split("•").length - 1;
  terminal.type(`${"\u007f".repeat(typed)}geheim${ENTER}`);
  await terminal.until("Open now.");
  expect(JSON.stringify(model.requests.at(-1)?.body.messages)).toContain("unlocked");
  expect(terminal.text).toContain("✓ Password given");
  expect(`${terminal.written}${JSON.stringify(model.requests.map(({ body }) => body))}`).not.toContain("geheim");
});

test("a question is answered by the number of a choice", async () => {
  model.script(callTools(call("clarify", { question: "Which colour?", choices: ["red", "blue"] })), say("Blue it is."));
  const terminal = await opened();
  terminal.type(`paint${ENTER}`);
  // No spinner turns while the agent waits for the user.
  await terminal.until((text) => /2 blue.*Esc skips/s.test(text) && !/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/u.test(text));
  terminal.type("2");
  await terminal.until("Blue it is.");
  expect(JSON.stringify(model.requests.at(-1)?.body.messages)).toContain("blue");
});

test("a resize while an answer streams loses and repeats nothing", async () => {
  const held = hold();
  const sentences = Array.from({ length: 30 }, (_, index) => `Sentence number ${index} of a paragraph that wraps. `);
  const parts = sentences.map((text) => ({ type: "text", text }) as const);
  model.script({ parts: [...parts, held.part, { type: "text", text: "\n\nThe end." }] });
  const terminal = await opened({ columns: 100 });
  terminal.type(`write${ENTER}`);
  await terminal.until("number 29 of");
  for (const [columns, rows] of [
    [50, 24],
    [70, 15],
    [120, 30],
  ] as const) {
    terminal.resize(columns, rows);
    await terminal.settled();
  }
  held.release();
  await terminal.until("The end.");
  const text = terminal.text.replaceAll(/\s+/g, " ");
  const counts = sentences.map((sentence) => text.split(sentence.trim()).length - 1);
  expect(counts).toEqual(sentences.map(() => 1));
  expect(terminal.written).not.toContain("\u001b[3J");
});

test("a long answer is whole in the scrollback, and costs less than three times its length", async () => {
  const blocks = Array.from(
    { length: 120 },
    (_, index) => `Paragraph ${index} has **words** and \`code\` in it, and some more.\n\n`,
  );
  const code = `\`\`\`ts\n${Array.from({ length: 200 }, (_, index) => `const value${index} = ${index};`).join("\n")}\n\`\`\`\n`;
  model.script(say([...blocks, code].join("")));
  const terminal = await opened();
  const before = terminal.written.length;
  terminal.type(`write${ENTER}`);
  await terminal.until("const value199");
  await terminal.until((text) => !text.includes("⚕ ❯"));
  const missing = [...blocks.keys()].filter(
    (index) => terminal.text.split(`Paragraph ${index} has words`).length !== 2,
  );
  expect(missing).toEqual([]);
  expect(terminal.text.match(/const value\d+ /g)).toHaveLength(200);
  expect((terminal.written.length - before) / [...blocks, code].join("").length).toBeLessThan(3);
});

test("a message that is typed while the agent works waits for the end of the turn", async () => {
  const held = hold();
  model.script({ parts: [held.part, { type: "text", text: "First." }] }, say("Second."));
  const terminal = await opened();
  terminal.type(`one${ENTER}`);
  await held.reached;
  terminal.type(`two${ENTER}`);
  await terminal.until("⏳ two");
  held.release();
  await terminal.until("Second.");
  expect(terminal.text).toMatch(/❯ one[\s\S]*First\.[\s\S]*❯ two[\s\S]*Second\./);
});

test("display.busy_input_mode interrupt stops the turn for a new message", async () => {
  writeFileSync(join(home, "config.yaml"), "display:\n  busy_input_mode: interrupt\n  spinner: plain\n");
  const held = hold();
  model.script({ parts: [held.part] }, say("Now this."));
  const terminal = await opened();
  terminal.type(`one${ENTER}`);
  await held.reached;
  await terminal.until("working");
  terminal.type(`two${ENTER}`);
  await terminal.until("Now this.");
  expect(terminal.text).toContain("Stopped.");
});

test("Esc stops the turn, Ctrl+C twice leaves, and the terminal is as before", async () => {
  const held = hold();
  model.script({ parts: [held.part] });
  const terminal = await opened();
  terminal.type(`one${ENTER}`);
  await held.reached;
  terminal.type(ESCAPE);
  await terminal.until("Stopped.");
  terminal.type(CTRL_C);
  await terminal.until("Ctrl+C again leaves.");
  terminal.type(CTRL_C);
  expect(await terminal.exited).toBe(130);
  expect([terminal.marksPastes, terminal.showsCursor]).toEqual([false, true]);
});

test.each(["SIGTERM", "SIGHUP"])("%s leaves a terminal in its usual modes", async (signal) => {
  const terminal = await opened();
  terminal.kill(signal);
  expect(await terminal.exited).toBe(130);
  expect([terminal.marksPastes, terminal.showsCursor]).toEqual([false, true]);
});

test("/ and @ complete, ! runs a shell line, and a long paste is sent whole", async () => {
  model.script(say("Read."));
  const terminal = await opened();
  terminal.type("/verb");
  await terminal.until("→ verbose");
  terminal.type(`${ENTER}`);
  await terminal.until("are shown whole");
  terminal.type(`!echo $((20 + 22))${ENTER}`);
  await terminal.until(/^42$/m);
  const pasted = Array.from({ length: 40 }, (_, index) => `pasted ${index}`).join("\n");
  terminal.type(`\u001b[200~${pasted}\u001b[201~ and @a.t`);
  await terminal.until("[paste #1 +40 lines]");
  await terminal.until("→ a.txt");
  terminal.type(`\t${ENTER}`);
  await terminal.until("Read.");
  const asked = JSON.stringify(model.requests.at(-1)?.body.messages.at(-1));
  expect(asked).toContain(String.raw`pasted 38\npasted 39 and @a.txt`);
  expect(asked).toMatch(/Attached file: .*a\.txt/);
});

test("/help lists the terminal's commands and the agent's, in two columns", async () => {
  const terminal = await opened();
  // The agent's commands come with its session, a moment after the prompt.
  await terminal.untilTyped(`/help${ENTER}`, () =>
    /^\/compress {2,}Summarise older messages now$/m.test(terminal.text),
  );
  await terminal.until("Ctrl+G $EDITOR");
  expect(terminal.text).toMatch(/^\/new \/clear \/reset {2,}Begin a new session$/m);
  expect(terminal.text).toMatch(/^\/diff {2,}Show the changes of the folder$/m);
});

test("earlier messages of the folder come back with ↑, from a file that only the user reads", async () => {
  model.respondWith(() => say("ok"));
  const first = await opened();
  first.type(`remember me${ENTER}`);
  await first.until("ok");
  first.type(`my key is sk-or-v1-0123456789abcdef0123456789${ENTER}`);
  await first.until(/ok[\s\S]*ok/);
  first.type(CTRL_D);
  await first.exited;
  const second = await opened();
  second.type("\u001b[A");
  await second.until("❯ remember me");
  const [name = ""] = readdirSync(join(home, "prompts"));
  const file = join(home, "prompts", name);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, "utf8")).toBe('"remember me"\n');
});

test("--continue shows the last messages again, and Shift+Tab changes the mode", async () => {
  model.respondWith(() => say("An answer to keep."));
  const first = await opened();
  first.type(`begin${ENTER}`);
  await first.until("to keep");
  first.type(CTRL_D);
  await first.exited;
  const second = await opened({ args: ["--continue"] });
  await second.until(/❯ begin\n\nAn answer to keep\./);
  await second.until("· code");
  second.type("\u001b[Z");
  await second.until("· plan");
});

test("work beside the session leaves it as it is, and an earlier message can be edited", async () => {
  model.respondWith(({ messages }) => say(`Answer ${messages.length}.`));
  const terminal = await opened();
  terminal.type(`begin${ENTER}`);
  await terminal.until(/begin\n\nAnswer \d\./);
  terminal.type(`/btw what is it?${ENTER}`);
  await terminal.until(/▏ what is it\?\n {2}▏ Answer \d\./);
  terminal.type(`/background do it${ENTER}`);
  await terminal.until(/▏ do it\n {2}▏ Answer \d\./);
  terminal.type(`and then${ENTER}`);
  await terminal.until(/❯ and then\n\nAnswer \d\./);
  expect(JSON.stringify(model.requests.at(-1)?.body.messages)).not.toContain("what is it?");
  await terminal.until((text) => !text.includes("⚕ ❯"));
  terminal.type("/sess");
  await terminal.until("→ sessions");
  terminal.type(`${ENTER}`);
  await terminal.until(/Sessions[\s\S]*do it/);
  expect(terminal.text).not.toMatch(/Sessions {2}[\s\S]*what is it/);
  terminal.type(ESCAPE);
  await terminal.until((text) => !text.includes("type to search"));
  terminal.type(ESCAPE);
  await terminal.settled();
  terminal.type(ESCAPE);
  await terminal.until(/Edit from[\s\S]*→ and then\n {2}begin/);
  terminal.type(ENTER);
  await terminal.until(/❯ and then\n test-model/);
});

test("NO_COLOR leaves out every colour", async () => {
  model.script(say("**Bold** and `code`."));
  const terminal = await opened({ environment: { NO_COLOR: "1" } });
  terminal.type(`hi${ENTER}`);
  await terminal.until("Bold and code.");
  const styles = terminal.written.split(`${ESCAPE}[`).filter((sequence) => /^[1-9][\d;]*m/.test(sequence));
  expect(styles).toEqual([]);
});

test("a prompt on the command line asks at the terminal, by one key", async () => {
  model.script(callTools(call("terminal", { command: "rm a.txt" })), say("Removed."));
  const terminal = start({ args: ["--mode", "ask", "clean up"] });
  await terminal.until("y = Allow Once");
  expect(terminal.text).toContain("rm a.txt");
  terminal.type("y");
  await terminal.until("Removed.");
  expect([await terminal.exited, existsSync(join(cwd, "a.txt"))]).toEqual([0, false]);
});

test("a terminal without cursor movements gets plain lines", async () => {
  model.script(callTools(call("terminal", { command: "rm b.txt" })), say("Plain answer."));
  const terminal = start({ environment: { TERM: "dumb" }, args: ["--mode", "ask"] });
  await terminal.until("> ");
  terminal.type(`hi${ENTER}`);
  await terminal.until("y = Allow Once");
  terminal.type(`n${ENTER}`);
  await terminal.until("Plain answer.");
  expect(terminal.written).not.toContain("\u001b");
  terminal.type(CTRL_D);
  expect(await terminal.exited).toBe(0);
});

test.each([
  [20, 5],
  [40, 8],
])("a screen of %i columns and %i rows is enough", async (columns, rows) => {
  model.script(say("A short answer with several words that wrap."));
  const terminal = start({ columns, rows });
  await terminal.until("code");
  terminal.type(`hi${ENTER}`);
  await terminal.until((text) => text.replaceAll(/\s+/g, " ").includes("words that wrap."));
  expect(terminal.lines.every((line) => line.length <= columns)).toBe(true);
  await terminal.until(() => terminal.cursor.line.includes("❯"));
});
