// Lines that end, with everything else that says the same: other lines, and notes of the agent.
import { expect, test } from "vitest";
import { memoriesFolder } from "../../../agent-core/config/home.ts";
import { LearntContext } from "../../../agent-core/learning/learnt-context.ts";
import { Memory } from "../../../agent-core/memory/memory.ts";
import { idOf, type ModelAnswer, NOW, SessionsHome } from "./support/sessions-home.ts";

const PROJECT = "/project/alpha";
const episode = { summary: "Worked.", task_type: "x", outcome: "success" };

let answer: ModelAnswer;
const made = (): SessionsHome => new SessionsHome(() => answer);

async function promptOf({ folder: home, clock }: SessionsHome, root = PROJECT): Promise<string> {
  return (await new LearntContext({ home, sessionId: "s-1", roots: [root], clock }).promptText()) ?? "";
}

/** Two wordings of one statement, a note of the agent in the words of the second, and one that says more. */
const STATEMENTS = [
  [
    "Deploys start with `make ship`.",
    "Make ship starts deploys here.",
    "make ship starts deploys",
    "make ship starts deploys on Fridays",
  ],
  [
    "Bilder liegen in assets/img.",
    "Lege Bilder nach assets/img.",
    "Bilder nach assets/img",
    "Bilder nach assets/img, Icons nach assets/ico",
  ],
  [
    "La base de datos se llama tinaja.",
    "Aquí la base es tinaja.",
    "la base es tinaja",
    "la base es tinaja, con réplica",
  ],
  [
    "Le cache est redis-eu.",
    "Ici on met en cache dans redis-eu.",
    "cache dans redis-eu",
    "cache dans redis-eu, sauf les images",
  ],
  ["数据库叫做tinaja。", "这里用的数据库是tinaja。", "数据库是tinaja", "数据库是tinaja,只读"],
  [
    "データベースはtinajaです。",
    "ここではtinajaをデータベースに使う。",
    "データベースにtinajaを使う",
    "データベースにtinajaを使う、読み取り専用",
  ],
] as const;
const VALUES = ["make ship", "assets/img", "tinaja", "redis-eu", "tinaja", "tinaja"];

test.each(STATEMENTS.map((row, at) => ({ row, value: VALUES[at] ?? "" })))(
  "a note that says what a line says in other words leaves the memory, and one that says more stays: $row.0",
  async ({ row: [first, second, note, more], value }) => {
    const sessions = made();
    const { folder, clock } = sessions;
    const memory = new Memory({ folder: memoriesFolder(folder), now: () => NOW }).forProject(PROJECT);
    const fact = { subject: "it", attribute: "place", value, kind: "service" };
    sessions.session(1, ["Work.", "Done.", first, "Done."]);
    answer = () => ({ episode, facts: [{ ...fact, text: first, quote: first, position: 2 }] });
    await sessions.runAll();
    sessions.session(2, ["Work.", "Done.", second, "Done."]);
    for (const content of [note, more])
      await memory.change("project", { action: "add", content }, { by: "agent", sessionId: idOf(2), callId: "c" });
    answer = (transcript) => {
      const repeats = /\[(f-\w+)\]/.exec(transcript)?.[1];
      return { episode, facts: [{ ...fact, text: second, quote: second, position: 2, repeats }] };
    };
    await sessions.runAll();
    expect(await memory.read("project")).toEqual([more]);
    expect(await promptOf(sessions)).toContain(first);
    expect(clock.now()).toBe(NOW);
  },
);

/** A rule that holds everywhere, the same rule for one project in other words, and the rule with another value. */
const RULES = [
  ["In all projects branches start with mint/.", "Branches start with mint/.", "Branches start with teal/."],
  ["In allen Projekten beginnen Zweige mit mint/.", "Zweige beginnen mit mint/.", "Zweige beginnen mit teal/."],
  [
    "En todos los proyectos las ramas empiezan con mint/.",
    "Las ramas empiezan con mint/.",
    "Las ramas empiezan con teal/.",
  ],
  ["所有项目的分支名都以mint/开头。", "分支名以mint/开头。", "分支名以teal/开头。"],
  ["どのプロジェクトでもブランチ名はmint/で始める。", "ブランチ名はmint/で始める。", "ブランチ名はteal/で始める。"],
] as const;

test.each(RULES)(
  "a rule that the user rejects for another value changes everywhere, and ends in all its wordings: %s",
  async (wide, narrow, next) => {
    const sessions = made();
    const rule = { subject: "branches", attribute: "start", explicit: true };
    sessions.session(1, [wide, "Ok."]);
    const everywhere = wide.slice(0, 12);
    answer = () => ({
      episode,
      user_signals: [{ ...rule, value: "mint", text: wide, quote: wide, position: 0, everywhere }],
    });
    await sessions.runAll();
    sessions.session(2, [narrow, "Ok."]);
    answer = () => ({ episode, user_signals: [{ ...rule, value: "mint", text: narrow, quote: narrow, position: 0 }] });
    await sessions.runAll();
    expect(await promptOf(sessions)).toMatch(/mint.*mint/s);
    const id = sessions.session(3, ["Begin the work."]);
    const prompt = await promptOf(sessions);
    sessions.appended(id, { type: "system-prompt", text: prompt });
    sessions.called(id, "terminal", { command: "git switch -c mint/login" });
    sessions.appended(id, { type: "message", message: { role: "user", content: next } });
    sessions.called(id, "terminal", { command: "git switch -c teal/login" });
    answer = (transcript) => ({
      episode,
      user_signals: [{ ...rule, value: "teal", text: next, quote: next }],
      refuted: [{ id: new RegExp(`\\[(p-\\w+)\\] user: ${wide}`).exec(transcript)?.[1], quote: next }],
    });
    await sessions.runAll();
    expect(await promptOf(sessions)).not.toContain("mint/");
    expect(await promptOf(sessions, "/project/beta")).toContain(next);
  },
);

test.each(RULES)(
  "a note that says what an ended line said goes, and one written after the end stays: %s",
  async (...rules) => {
    const [, old, next] = rules;
    const sessions = made();
    const memory = new Memory({ folder: memoriesFolder(sessions.folder), now: () => sessions.clock.now() }).forProject(
      PROJECT,
    );
    const note = (number: number) =>
      memory.change("project", { action: "add", content: old }, { by: "agent", sessionId: idOf(number), callId: "c" });
    const rule = { subject: "branches", attribute: "start", explicit: true, position: 0 };
    const say = async (number: number, text: string, value: string): Promise<void> => {
      sessions.session(number, [text, "Ok."]);
      answer = (transcript) => {
        const supersedes = /\[(p-\w+)\]/.exec(transcript)?.[1];
        return { episode, user_signals: [{ ...rule, value, text, quote: text, ...(supersedes && { supersedes }) }] };
      };
      await sessions.runAll();
    };
    await say(1, old, "mint/");
    await note(9);
    await sessions.clock.advance(12 * 86_400_000);
    await say(21, next, "teal/");
    expect(await memory.read("project")).toEqual([]);
    await sessions.clock.advance(3 * 86_400_000);
    await note(23);
    await say(24, `${next} ${next}`, "teal/");
    expect(await memory.read("project")).toEqual([old]);
  },
);

test.each([
  ["Do not deploy on Fridays.", "Deploy on Fridays.", ""],
  ["Tests laufen mit Jest, nicht mit Vitest.", "Tests laufen mit Vitest.", "Jest"],
  ["Las pruebas no usan vitest, usan jest.", "Las pruebas usan vitest.", "jest"],
])("a note without the value of the ended line stays: %s", async (text, note, value) => {
  const sessions = made();
  const memory = new Memory({ folder: memoriesFolder(sessions.folder), now: () => NOW }).forProject(PROJECT);
  const rule = { subject: "it", attribute: "way", explicit: true, position: 0, ...(value && { value }) };
  sessions.session(1, [text, "Ok."]);
  answer = () => ({ episode, user_signals: [{ ...rule, text, quote: text }] });
  await sessions.runAll();
  const write = { by: "agent", sessionId: idOf(9), callId: "c" } as const;
  await memory.change("project", { action: "add", content: note }, write);
  await sessions.clock.advance(12 * 86_400_000);
  const next = "It is as I say now: glauno.";
  sessions.session(21, [next, "Ok."]);
  answer = (transcript) => {
    const supersedes = /\[(p-\w+)\]/.exec(transcript)?.[1];
    return { episode, user_signals: [{ ...rule, value: "glauno", text: next, quote: next, supersedes }] };
  };
  await sessions.runAll();
  expect(await promptOf(sessions)).not.toContain(text);
  expect(await memory.read("project")).toEqual([note]);
});
