/**
 * The model of the trial when it is asked about past sessions. It answers in the forms that the questions describe, all in
 * one, and errs: it drops, invents and alters statements. It believes what it reads.
 */
import { type Saying, textOf, understand, type WireMessage } from "./apprentice.ts";
import type { Chance } from "./chance.ts";
import { HOSTILE, SIGNS, VALUES, WRONG } from "./languages.ts";

/** Statements that the model took from sessions, for precision and recall. */
export type Tally = { asked: number; right: number; dropped: number; invented: number; altered: number };

type Line = { readonly position: number; readonly role: string; readonly text: string };

/** Share of each kind of error. */
export type Errors = { readonly chance: Chance; readonly share: number; readonly tally: Tally };

export function answerAbout(messages: readonly WireMessage[], errors: Errors): string {
  const text = messages.map(({ content }) => textOf(content)).join("\n");
  const lines = [...text.matchAll(/^\[(\d+) (\w+)[^\]]*\] (.*)$/gm)].map(([, position, role = "", line = ""]): Line => {
    return { position: Number(position), role, text: line };
  });
  errors.tally.asked += 1;
  const known = [...text.matchAll(/^- \[([\w-]+)\] (.*)$/gm)].flatMap(([, id = "", line = ""]) =>
    understand(line).map((saying) => ({ ...saying, id })),
  );
  const said = lines.flatMap((line) => (line.role === "user" || line.role === "tool" ? sayings(line) : []));
  const items = said.flatMap((each) => withErrors(each, known, errors));
  const summary = lines.find(({ role }) => role === "user")?.text ?? "work";
  const wrong = lines.slice(1).filter(({ role, text: line }) => role === "user" && isRejection(line));
  return JSON.stringify({
    episode: { summary, task_type: kindOf(text), outcome: "success", corrections: wrong.length },
    refuted: wrong.flatMap((line) => refutedBy(line, lines, known)).filter(() => !errors.chance.hits(errors.share)),
    facts: items.flatMap(({ fact }) => (fact === undefined ? [] : [fact])),
    user_signals: items.flatMap(({ signal }) => (signal === undefined ? [] : [signal])),
    ...procedure(text, errors),
  });
}

function isRejection(line: string): boolean {
  return Object.values(WRONG).some((words) => line.startsWith(words)) || understand(line).length > 0;
}

type KnownSaying = Saying & { readonly id: string };

/** Known lines that the agent followed before the user said that the result is wrong. */
function refutedBy(line: Line, lines: readonly Line[], known: readonly KnownSaying[]): readonly object[] {
  const acts = lines.filter(({ role, position }) => role === "assistant" && position < line.position);
  const repeated = understand(line.text).map(({ value }) => value);
  const isFollowed = ({ value }: KnownSaying): boolean =>
    acts.some(({ text }) => new RegExp(`(?<![\\w/-])${value}(?![\\w-])`).test(text)) && !repeated.includes(value);
  return known.filter(isFollowed).map(({ id }) => ({ id, quote: line.text }));
}

type Said = Saying & { readonly line: Line };

/** Sayings of a line, with the line. */
function sayings(line: Line): readonly Said[] {
  return understand(line.text).map((saying) => ({ ...saying, line }));
}

type Item = { readonly fact?: object; readonly signal?: object };

function withErrors(said: Said, known: readonly (Saying & { readonly id: string })[], errors: Errors): readonly Item[] {
  const { chance, share, tally } = errors;
  const invented = chance.hits(share) ? [itemOf({ ...said, ...invention(said, chance) }, errors)] : [];
  if (invented.length > 0) tally.invented += 1;
  if (chance.hits(share)) {
    tally.dropped += 1;
    return invented;
  }
  if (chance.hits(share) && said.value !== HOSTILE) {
    const list = VALUES[said.topic].filter((value) => value !== said.value);
    tally.altered += 1;
    const value = chance.pick(list);
    const sentence = said.sentence.replace(said.value, value);
    return [...invented, itemOf({ ...said, value, sentence, quoted: said.sentence }, errors)];
  }
  tally.right += 1;
  const same = known.filter(({ topic, subject }) => topic === said.topic && subject === said.subject);
  const replaces = said.topic === "folder" ? undefined : same.find(({ value }) => value !== said.value)?.id;
  const repeats = same.find(({ value }) => value === said.value)?.id;
  const named = { ...(replaces !== undefined && { replaces }), ...(repeats !== undefined && { repeats }) };
  return [...invented, itemOf(said, errors, named)];
}

/** A sentence about the same with a value that nobody said. */
function invention({ topic, sentence, value }: Said, chance: Chance): Partial<Said> {
  const made = topic === "port" ? String(1_000 + chance.below(8_000)) : `made${chance.below(1_000)}`;
  return { value: made, sentence: value === HOSTILE ? `The tests run with ${made}.` : sentence.replace(value, made) };
}

const FORBIDS = {
  prefix: "commit",
  header: "new file",
  folder: "edits",
  suite: "tests",
  port: "port",
  once: "library",
  private: "health",
};

function itemOf(
  { topic, subject, value, sentence, line, quoted = sentence }: Said & { readonly quoted?: string },
  { chance, share }: Pick<Errors, "chance" | "share">,
  { replaces, repeats }: { readonly replaces?: string; readonly repeats?: string } = {},
): Item {
  const isWrong = chance.hits(share / 2);
  const isRule = topic === "once" ? isWrong : !isWrong;
  const isOfUser = topic === "prefix" || topic === "header";
  const general =
    /in all my projects|wherever|allen Projekten|überall|todos mis|siempre|tous mes|partout|所有|不管|どの|どこ/i;
  const everywhere = general.exec(quoted)?.[0];
  const shared = {
    text: sentence,
    subject: subject || FORBIDS[topic],
    attribute: FORBIDS[topic],
    value: topic === "suite" && value !== HOSTILE ? `bin/check ${value}` : value,
    scope: isOfUser && everywhere !== undefined ? "user" : "project",
    ...(isOfUser && everywhere !== undefined && { everywhere }),
    quote: quoted,
    position: line.position,
    ...(replaces !== undefined && { supersedes: replaces, replaces }),
    ...(repeats !== undefined && { repeats }),
    later: isRule,
    sensitive: topic === "private" && !isWrong,
  };
  if (topic === "port" || topic === "suite") return { fact: { ...shared, kind: "service" } };
  if (line.role === "tool") return { fact: { ...shared, kind: "project" } };
  return { signal: { ...shared, explicit: isRule, ...checkOf(topic, value) } };
}

/** The rule as a check, in the words of the question. */
function checkOf(topic: Saying["topic"], value: string): object {
  if (topic === "prefix") return { check: { on: "commit", require: `^${value}:` } };
  if (topic === "folder") return { check: { on: "path", forbid: `^${value}/` } };
  return topic === "header" ? { check: { on: "new_file", require: `^[^\\n]*${value}` } } : {};
}

function kindOf(text: string): string {
  return /bin\/(?!check|README)\w+/.test(text) ? "publish-release" : "project-work";
}

/** The steps of the best session as one statement of a procedure. */
function procedure(text: string, { chance, share }: Errors): object {
  const best = /^Best session[^\n]*:\n((?:- .*\n?)*)/m.exec(text)?.[1] ?? "";
  const commands = [...best.matchAll(/`bin\/(\w+)[^`]*`: exit 0/g)].map(([, step = ""]) => step);
  const steps = commands.filter((step, at) => VALUES.step.includes(step) && !commands.includes(step, at + 1));
  const request = /^Requests of the user[^\n]*:\n- (.*)$/m.exec(text)?.[1] ?? "";
  const isSkill = steps.length > 2 && SIGNS.release.test(request) && !chance.hits(share);
  if (!isSkill) return { name: "", description: "", applicable_when: [], deltas: [] };
  const bullet = `${request.replace(/ ?x\d+.*$/, "")}: ${steps.map((step) => `\`bin/${step} <name>\``).join(", ")}`;
  const old = /^- \[(\w+)\] (.*bin\/.*)$/m.exec(text);
  const delta = old === null ? { op: "add", text: bullet } : { op: "edit", id: old[1], text: bullet };
  return {
    name: "publish-release",
    description: `${request.replace(/ ?x\d+.*$/, "")} (publish a release).`,
    applicable_when: [request],
    deltas: old?.[2]?.startsWith(bullet) === true ? [] : [delta],
  };
}
