/**
 * Answers of the simulated model to the loops that learn. It reads transcripts as it reads everything: sentences with a
 * value between backticks. It is gullible, and a share of its items is dropped, paraphrased or invented.
 */
import type { Noise } from "./chance.ts";
import type { AuxiliaryRequest } from "./reader.ts";

type Row = { readonly position: number; readonly role: string; readonly text: string };

/** Verb at the start of a request for work; other sentences state something. */
const REQUEST = /^(?:Write|Commit|Run|Publish|Set up|Read|Build|Put|Find out|See)\b/;
const STYLE = /\b(?:ends? with|begins? with|last line)\b/;
const EXPLICIT = /\b(?:always|every|remember)\b/i;
const ONE_PROJECT = /\b(?:this project|here)\b/;

type Statement = { readonly sentence: string; readonly position: number; readonly role: string };

/** `{"episode", "facts", "user_signals"}` of a transcript. */
export function extracted({ user }: AuxiliaryRequest, noise: Noise): string {
  const known = [...(/# Known\n\n([\s\S]*?)\n\n# /.exec(user)?.[1] ?? "").matchAll(/^- [^:]+: (.+)$/gm)].map(
    ([, text = ""]) => text,
  );
  const rows = transcriptRows(user);
  const statements = rows.filter(({ role }) => role !== "assistant").flatMap(statementsOf);
  const items = statements.flatMap((statement) => itemsOf(statement, known, noise));
  const request = rows.find(({ role }) => role === "user")?.text ?? "";
  const outcome = rows.filter(({ role }) => role === "user").length > 1 ? "partial" : "success";
  const summary = [request, ...statements.map(({ sentence }) => sentence)]
    .join(" ")
    .split(/\s+/)
    .slice(0, 90)
    .join(" ");
  return JSON.stringify({
    episode: { summary, task_type: taskType(request), outcome },
    facts: items.flatMap(({ fact }) => fact ?? []),
    user_signals: items.flatMap(({ signal }) => signal ?? []),
  });
}

function transcriptRows(user: string): readonly Row[] {
  const text = user.slice(user.indexOf("# Transcript"));
  return text.split(/^(?=\[\d+ \w+)/m).flatMap((part): readonly Row[] => {
    const [head, position, role] = /^\[(\d+) (\w+)[^\]]*\] /.exec(part) ?? [];
    return head === undefined
      ? []
      : [{ position: Number(position), role: role ?? "", text: part.slice(head.length).trim() }];
  });
}

/** Sentences that state something and have a value. */
function statementsOf({ position, role, text }: Row): readonly Statement[] {
  const sentences = text
    .split("\n")
    .flatMap((line) => line.match(/(?:`[^`]*`|[^`.]|\.(?! |$))+(?:\.(?= |$)|$)/g) ?? []);
  return sentences
    .map((sentence) => sentence.trim().replace(/^(?:[\w/.-]+:\d+:|No[,:]|Not like that[.:]?|please,?)\s*/i, ""))
    .filter((sentence) => /`[^`]+`/.test(sentence) && !REQUEST.test(sentence) && sentence.length < 300)
    .filter((sentence) => role === "user" || / /.test(sentence.replaceAll(/`[^`]*`/g, "").trim()))
    .map((sentence) => ({ sentence, position, role }));
}

type Item = { readonly fact?: object; readonly signal?: object };

function itemsOf({ sentence, position, role }: Statement, known: readonly string[], noise: Noise): readonly Item[] {
  const { chance, share } = noise;
  const isDropped = chance.hits(share / 3);
  const isInvented = chance.hits(share / 3);
  const text = chance.hits(share / 3) ? `It is known: ${sentence}` : sentence;
  const supersedes = known.find((other) => other !== sentence && isAboutTheSame(other, sentence));
  const scope = ONE_PROJECT.test(sentence) || role === "tool" ? "project" : "user";
  const about = { text, scope, quote: sentence, position, ...(supersedes !== undefined && { supersedes }) };
  const isRule = role === "user" ? STYLE.test(sentence) : /^remember\b/.test(sentence);
  const item: Item = isRule
    ? { signal: { ...about, explicit: EXPLICIT.test(sentence) } }
    : { fact: { ...about, subject: subjectOf(sentence), kind: "project" } };
  const value = `made-up-${chance.below(10_000)}`;
  const invented = {
    text: `The tests run with \`${value}\`.`,
    quote: `run with ${value}`,
    position,
    scope: "user",
    subject: "tests",
    kind: "tool",
  };
  return [...(isDropped ? [] : [item]), ...(isInvented ? [{ fact: invented }] : [])];
}

function subjectOf(sentence: string): string {
  return [...namesIn(sentence), ...wordsOf(sentence)].slice(0, 2).join(" ");
}

function wordsOf(sentence: string): readonly string[] {
  const words =
    sentence
      .replaceAll(/`[^`]*`/g, " ")
      .toLowerCase()
      .match(/[a-z]{3,}/g) ?? [];
  return words.map((word) => word.replace(/s$/, ""));
}

/** Words of the language; every other word is a name. */
const LANGUAGE = new Set(
  "the that this thi these here here with for and not its how own from has have had was are wa ha alway every each please remember look like want note commit deployment message begin end line last target name queue check run runs decided choose project go their what rule known tests test build publish always all keep".split(
    " ",
  ),
);

function namesIn(sentence: string): readonly string[] {
  return wordsOf(sentence).filter((word) => !LANGUAGE.has(word) && word.length > 5);
}

/** Two statements about the same names, with values that differ. */
function isAboutTheSame(one: string, other: string): boolean {
  const [first, second] = [namesIn(one), namesIn(other)];
  const value = (text: string): string | undefined => /`([^`]+)`/.exec(text)?.[1];
  return first.length > 0 && first.every((name) => second.includes(name)) && value(one) !== value(other);
}

function taskType(request: string): string {
  if (/^Read the \w+ registers/.test(request)) return "research";
  const [verb = "work", ...rest] = request.toLowerCase().match(/[a-z]+/g) ?? [];
  const subject = rest.find((word) =>
    /^(?:note|change|check|build|consumer|queue|table|deployment|word)s?$/.test(word),
  );
  return [verb, subject].filter((word) => word !== undefined).join("-");
}

/** Programs that only look. */
const LOOKS = /^(?:ls|cat|grep|for|head|find|make)\b/;

/** `{"name", "description", "applicable_when", "deltas"}` for sessions of one kind. */
export function distilled({ user }: AuxiliaryRequest, { chance, share }: Noise): string {
  const section = (title: string): readonly string[] =>
    (new RegExp(`^${title}[^\n]*:\n((?:- .*\n?)*)`, "m").exec(user)?.[1] ?? "")
      .split("\n")
      .flatMap((line) => line.slice(2) || []);
  const [request = ""] = section("Requests of the user").toReversed();
  const subject = request
    .replaceAll(/\S*\d\S*|\b(?:for|to|in|of) (?=$|\s*$)/g, "")
    .replaceAll(/[.,]/g, "")
    .trim()
    .replaceAll(/\s+/g, " ");
  const runs = [section("Best session"), section("Worst session")].map((lines) =>
    lines.flatMap((line) => {
      const [, command, exit] = /^ran `([^`]+)`: exit (\S+)/.exec(line) ?? [];
      return command === undefined ? [] : [{ command, ok: exit === "0" }];
    }),
  );
  const failed = new Set(runs.flat().flatMap(({ command, ok }) => (ok ? [] : [command])));
  const sequences = runs.map((run) => stepsOf(run)).filter((steps) => steps.length >= 3);
  const steps =
    sequences.find((sequence) => sequence.every((command) => !failed.has(command))) ?? sequences.at(-1) ?? [];
  const rule = section("Corrections")
    .flatMap((line) => /(?:`[^`]*`|[^.`:])*`[^`]+`[^.`:]*/.exec(line)?.[0].trim() ?? [])
    .at(-1);
  const known = [...user.matchAll(/^- \[(\w+)\] (.*?) \(helped/gm)].map(([, id = "", text = ""]) => ({ id, text }));
  const noisy = (command: string): string => (chance.hits(share / 3) ? `${command} --force` : command);
  const bullet =
    steps.length > 0
      ? `${subject}: run ${steps.map((command) => `\`${noisy(command)}\``).join(", then ")}.`
      : rule && `${subject}: ${rule}.`;
  const isDropped = chance.hits(share / 3);
  return JSON.stringify({
    name: subject
      .toLowerCase()
      .replaceAll(/[^a-z]+/g, "-")
      .slice(0, 50)
      .replaceAll(/^-|-$/g, ""),
    description: `${subject}. Use it for each request of this kind.`,
    applicable_when: [subject.toLowerCase()],
    deltas: bullet === undefined || bullet === "" || isDropped ? [] : deltasOf(bullet, known),
  });
}

/** Passed commands that do something; one that ran again counts where it ran last. */
function stepsOf(run: readonly { readonly command: string; readonly ok: boolean }[]): readonly string[] {
  const passed = run.filter(({ command, ok }) => ok && !LOOKS.test(command)).map(({ command }) => command);
  return passed.filter((command, at) => !passed.includes(command, at + 1));
}

function deltasOf(bullet: string, known: readonly { readonly id: string; readonly text: string }[]): readonly object[] {
  if (known.some(({ text }) => text === bullet)) return [];
  const [first] = known;
  return first === undefined ? [{ op: "add", text: bullet }] : [{ op: "edit", id: first.id, text: bullet }];
}
