// Bytes that input methods and keyboards of the world send to a terminal: corrected letters, wide signs, other letters.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { call, callTools, say } from "../support/model-server/model-server.ts";
import { openedIn, terminalBench } from "../support/terminal-session.ts";

const ENTER = "\r";
const ERASE = "\u007f";
const CTRL_R = "\u0012";
const CTRL_U = "\u0015";

const bench = terminalBench();
const sent = () => bench().model.requests.at(-1)?.body.messages.at(-1);

test("letters that an input method corrects, and a word that comes with its Enter, are sent as they were meant", async () => {
  const { model } = bench();
  model.script(say("One."), say("Two."));
  const terminal = await openedIn(bench());
  // Telex, as OpenKey sends it: erased letters and their replacement in one piece, also by Ctrl+H.
  terminal.type(`vie${ERASE}ê`);
  terminal.type(`t${ERASE}${ERASE}ệt to\bô`);
  await terminal.until("❯ việt tô");
  terminal.type(ENTER);
  await terminal.until("One.");
  expect(sent()).toMatchObject({ content: "việt tô" });
  terminal.type(`한글${ENTER}`);
  await terminal.until("Two.");
  expect(sent()).toMatchObject({ content: "한글" });
});

test("the wide signs of an input method begin commands, shell lines and mentions", async () => {
  const { model } = bench();
  model.script(say("Read."));
  const terminal = await openedIn(bench());
  for (const sign of ["／", "、"]) {
    terminal.type(`${sign}hel`);
    await terminal.until(/❯ \/hel\n.*help/);
    terminal.type("\t");
    await terminal.until("❯ /help\n");
    terminal.type(CTRL_U);
    await terminal.until((text) => !text.includes("/help\n"));
  }
  terminal.type(`！echo $((6 * 7))${ENTER}`);
  await terminal.until(/^42$/m);
  terminal.type("看，＠a.t");
  await terminal.until(/a\.txt/);
  terminal.type(`\t的代码${ENTER}`);
  await terminal.until("Read.");
  expect(JSON.stringify(sent())).toContain("[Attached file: ");
});

test("the list of files opens behind a letter that needs no blank, and Ctrl+U closes it", async () => {
  const terminal = await openedIn(bench());
  for (const text of ["字@a.t", "한글＠a.t", "ไทย@a.t"]) {
    terminal.type(text);
    await terminal.until(/→ a\.txt/);
    terminal.type(CTRL_U);
    await terminal.until((screen) => !screen.includes("a.txt"));
  }
});

test("a file is attached that is mentioned between words without blanks", async () => {
  const { model, cwd } = bench();
  writeFileSync(join(cwd, "说明.md"), "x\n");
  model.script(say("One."), say("Two."), say("Three."));
  const terminal = await openedIn(bench());
  for (const [text, file, answer] of [
    ["请看@a.txt。", "a.txt", "One."],
    ["看一下@a.txt的代码", "a.txt", "Two."],
    ["＠说明.md、これを読んで", "说明.md", "Three."],
  ] as const) {
    terminal.type(`${text} ${ENTER}`);
    await terminal.until(answer);
    expect(JSON.stringify(sent())).toContain(`[Attached file: ${join(cwd, file)}]`);
  }
});

test("a list is searched by composed letters, whose place is the cursor", async () => {
  const { model } = bench();
  model.script(say("One."), say("Two."));
  const terminal = await openedIn(bench());
  for (const [text, answer] of [
    ["日本語", "One."],
    ["other", "Two."],
  ] as const) {
    terminal.type(`${text}${ENTER}`);
    await terminal.until(answer);
  }
  terminal.type(CTRL_R);
  await terminal.until("type to search");
  terminal.type("日本👩‍👩‍👧‍👦");
  await terminal.until("日本👩‍👩‍👧‍👦");
  terminal.type(ERASE);
  await terminal.until((text) => !/other|👩/.test(text.slice(text.lastIndexOf("Earlier messages"))));
  await terminal.until(() => terminal.cursor.col === " Earlier messages  ".length + 4);
  expect(terminal.showsCursor).toBe(true);
  terminal.type(`${ERASE}${ERASE}\u001b[200~oth\u001b[201~`);
  await terminal.until((text) => !text.slice(text.lastIndexOf("Earlier messages")).includes("日本"));
  terminal.type(ENTER);
  await terminal.until("❯ other");
});

test("an approval takes numbers and wide letters, and names them after a letter of another keyboard", async () => {
  const { model } = bench();
  const edit = (text: string) => callTools(call("write_file", { path: ".env", content: text }));
  model.script(edit("A=1\n"), edit("A=2\n"), say("Done."));
  const terminal = await openedIn(bench());
  terminal.type(`go${ENTER}`);
  await terminal.until("y Allow");
  await terminal.untilTyped("н", () => terminal.text.includes("or 1 to "));
  terminal.type("1");
  await terminal.until(/✓ Allow[\s\S]*y Allow/);
  await terminal.untilTyped("Ｙ", () => terminal.text.includes("Done."));
});
