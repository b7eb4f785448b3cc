// Values of learnt facts: checks of calls, places that show them, and their end.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import type { HookPayload } from "../../../agent-core/hooks/hook.ts";
import { LearningLedger } from "../../../agent-core/learning/learning-ledger.ts";
import { LearntContext } from "../../../agent-core/learning/learnt-context.ts";
import { type ModelAnswer, SessionsHome } from "./support/sessions-home.ts";

let sessions: SessionsHome;
let answer: ModelAnswer;

beforeEach(() => {
  sessions = new SessionsHome(() => answer);
});

const session = (...given: Parameters<SessionsHome["session"]>): string => sessions.session(...given);
const runAll = (): Promise<void> => sessions.runAll();

test("a fact about a program of the project ends once the program's file no longer has its words", async () => {
  const project = mkdtempSync(join(tmpdir(), "hermes-cited-"));
  const write = (suite: string): void =>
    writeFileSync(join(project, "bin/check"), `#!/bin/sh\n[ "$1" = ${suite} ] || exit 2\n`);
  mkdirSync(join(project, "bin"));
  write("smoke");
  const text = "The tests of this project run with bin/check smoke.";
  session(1, [text, "Ok."], project);
  const fact = { subject: "tests", attribute: "command", value: "bin/check smoke", text, quote: text, position: 0 };
  answer = () => ({ episode: { summary: "Looked.", task_type: "x", outcome: "success" }, facts: [fact] });
  await runAll();
  const promptOf = () =>
    new LearntContext({
      home: sessions.folder,
      sessionId: "s-1",
      roots: [project],
      clock: sessions.clock,
    }).promptText();
  expect(await promptOf()).toContain(text);
  write("verify");
  expect(await promptOf()).toBeUndefined();
  await runAll();
  const ledger = await new LearningLedger(sessions.folder, sessions.clock).read();
  expect(ledger.at(-1)).toMatchObject({ op: "close", reason: "bin/check:2 no longer says it." });
});

test("a call that contradicts a fact is refused once, with the fact, unless the model repeats it", async () => {
  const text = "The billing service listens on port 8417.";
  session(1, ["Write the settings", "Done.", text, "Done."]);
  const fact = { subject: "billing", attribute: "port", value: "8417", text, quote: text, position: 2 };
  answer = () => ({ episode: { summary: "Looked.", task_type: "x", outcome: "success" }, facts: [fact] });
  await runAll();
  const context = new LearntContext({
    home: sessions.folder,
    sessionId: "s",
    roots: ["/project/alpha"],
    clock: sessions.clock,
  });
  await context.promptText();
  const [hook] = context.hooks();
  const write = (port: number) => {
    const input = { path: "a.conf", content: `service=billing\nport=${port}` };
    return hook?.run(
      { tool_input: input, cwd: "/project/alpha" } as unknown as HookPayload,
      new AbortController().signal,
    );
  };
  expect(await write(8080)).toMatchObject({ decision: "block", reason: expect.stringContaining(text) });
  expect(await write(8417)).toEqual({});
  expect(await write(8080)).toMatchObject({ decision: "block" });
  for (let time = 0; time < 3; time += 1) expect(await write(8080)).toEqual({});
});

test("a session without an objection counts for the lines that its calls followed", async () => {
  const text = "The billing service listens on port 8417.";
  session(1, ["Write the settings", "Done.", text, "Done."]);
  const episode = { summary: "Looked.", task_type: "x", outcome: "success", corrections: [] as readonly number[] };
  const fact = { subject: "billing", attribute: "port", value: "8417", text, quote: text, position: 2 };
  answer = () => ({ episode, facts: [fact] });
  await runAll();
  const seen = async (): Promise<unknown> =>
    (await (await sessions.loop()).store.items()).find(({ kind }) => kind === "fact")?.seen;
  const follow = async (number: number, corrections: readonly number[]): Promise<void> => {
    const id = session(number, ["Write more settings"]);
    sessions.called(id, "write_file", { path: "b.conf", content: "service=billing\nport=8417" });
    answer = () => ({ episode: { ...episode, corrections } });
    await runAll();
  };
  await follow(2, []);
  expect(await seen()).toBe(2);
  await follow(3, [2]);
  expect(await seen()).toBe(2);
});

test("a value that a rule for all projects gave up ends in each project, and of equal lines the wide one changes", async () => {
  const episode = { summary: "Wrote.", task_type: "x", outcome: "success" };
  const say = async (number: number, cwd: string, name: string, more: object = {}): Promise<void> => {
    const text = `${cwd === "/project/beta" ? "Each" : "Every"} new file names ${name} in its first line${"everywhere" in more ? ", in all projects" : ""}.`;
    session(number, ["Write it", "Done.", text, "Done."], cwd);
    answer = (transcript) => {
      const supersedes =
        "old" in more ? new RegExp(`\\[(p-\\w+)\\] .*${String(more.old)}`).exec(transcript)?.[1] : undefined;
      const shared = {
        subject: "new file",
        attribute: "name",
        value: name,
        text,
        quote: text,
        position: 2,
        explicit: true,
      };
      return { episode, user_signals: [{ ...shared, ...more, ...(supersedes && { supersedes }) }] };
    };
    await runAll();
  };
  const shown = async (): Promise<readonly string[]> =>
    (await (await sessions.loop()).store.items()).flatMap(({ kind, state, text, scope }) =>
      kind === "preference" && state === "active" ? [`${scope}: ${/names (\w+)/.exec(text)?.[1]}`] : [],
    );
  await say(1, "/project/alpha", "Contoso");
  await say(2, "/project/beta", "Contoso");
  await say(3, "/project/alpha", "Adatum", { old: "Contoso" });
  expect(await shown()).toContain("/project/beta: Contoso");
  await say(4, "/project/alpha", "Adatum", { everywhere: "in all projects" });
  expect((await shown()).some((line) => line.includes("Contoso"))).toBe(false);
  await say(5, "/project/alpha", "Litware", { old: "Adatum" });
  expect(await shown()).toEqual(["user: Litware"]);
});

test.each([
  "Hands off out/. Never change anything in lib/gen either.",
  "Finger weg von out/. Auch in lib/gen wird nie etwas geändert.",
  "No toques out/. Tampoco cambies nada en lib/gen.",
  "别动out/。lib/gen里的东西也不要改。",
  "out/には触らないで。lib/genの中も変更しないで。",
])("a prohibition that nothing in its session broke is checked in the next one: %s", async (words) => {
  const quote = words.slice(words.search(/(?<=[.。]\s?)\S/));
  const id = session(1, ["Set the flag"]);
  sessions.called(id, "write_file", { path: "out/a.txt", content: "2" });
  sessions.appended(id, { type: "message", message: { role: "user", content: words } });
  sessions.called(id, "write_file", { path: "src/a.txt", content: "2" });
  const rule = { subject: "lib/gen", attribute: "edits", value: "lib/gen", explicit: true, position: 3 };
  const check = { on: "path", forbid: "^lib/gen/" };
  answer = () => ({
    episode: { summary: "Set it.", task_type: "x", outcome: "success" },
    user_signals: [{ ...rule, text: quote, quote, check }],
  });
  await runAll();
  const { folder: home, clock } = sessions;
  const context = new LearntContext({ home, sessionId: "s", roots: ["/project/alpha"], clock });
  await context.promptText();
  const input = { path: "lib/gen/a.txt", content: "2" };
  const payload = { tool_input: input, cwd: "/project/alpha" } as unknown as HookPayload;
  const verdicts = context.hooks().map((hook) => hook.run(payload, new AbortController().signal));
  expect(await Promise.all(verdicts)).toMatchObject([{ decision: "block" }]);
});
