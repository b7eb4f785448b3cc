/** Families of tasks whose need is one token: a preference, facts of a project, and an earlier decision. */
import { join } from "node:path";
import type { Chance } from "./chance.ts";
import {
  type Check,
  type Family,
  git,
  readIn,
  removeIn,
  type Task,
  type TaskPlan,
  type Topic,
  varied,
  writeIn,
  writeProgram,
} from "./task.ts";

const need = ({ needs }: Topic): string => needs["token"] ?? "";

/** A file that must contain the token; the user takes back one without it. */
function fileTask(
  topic: Topic,
  { chance }: TaskPlan,
  about: Pick<Task, "family" | "kind" | "prompt"> & {
    readonly path: string;
    readonly forms: readonly string[];
    readonly hint: string;
  },
): Task {
  const { family, kind, prompt, path, forms, hint } = about;
  const { project } = topic;
  const files = [join(project.path, path)];
  const check = (attempt: number): Check | undefined => {
    const text = readIn(project, path);
    if (text?.includes(need(topic)) === true) return undefined;
    return { correction: varied(chance, attempt, forms), undo: text === undefined ? [] : files };
  };
  return { family, kind, project, topic, prompt, files, needs: () => [need(topic)], hints: () => [hint], check };
}

function open(project: Topic["project"], noun: string, words: { token(): string }): Topic {
  return { project, noun, needs: { token: words.token() } };
}

function change(topic: Topic, words: { token(): string }): void {
  topic.needs = { token: words.token() };
}

/** The user wants a certain last line, in every project. */
export const note: Family = {
  name: "note",
  kind: "preference",
  scope: "user",
  open,
  change,
  task(topic, plan) {
    const { noun } = topic;
    const token = need(topic);
    return fileTask(topic, plan, {
      family: "note",
      kind: "preference",
      hint: `A ${noun} note ends with \`${token}\`.`,
      path: `notes/${plan.number}.md`,
      prompt: `Write the ${noun} note for change ${plan.number} to notes/${plan.number}.md.`,
      forms: [
        `No, not like that: a ${noun} note ends with the line \`${token}\`.`,
        `I undid it. Every ${noun} note has to end with \`${token}\`.`,
        `That is not what I want. I always want ${noun} notes to end with \`${token}\`.`,
        `Please remember how ${noun} notes look: their last line is \`${token}\`.`,
      ],
    });
  },
};

/** Commits of one project begin with a certain word. */
export const commit: Family = {
  name: "commit",
  kind: "preference",
  scope: "project",
  open,
  change,
  task(topic, { number, chance }) {
    const { project, noun } = topic;
    const path = `src/${noun}.txt`;
    const token = need(topic);
    const forms = [
      `No: in this project ${noun} commits begin with \`${token}\`.`,
      `I took the commit back. The message of a ${noun} commit here begins with \`${token}\`.`,
      `Not like that. ${noun} commits of this project always begin with \`${token}\`.`,
    ];
    return {
      family: "commit",
      kind: "preference",
      project,
      topic,
      files: [],
      hints: () => [`A ${noun} commit begins with \`${token}\`.`],
      prompt: `Commit the ${noun} change in ${path}.`,
      needs: () => [need(topic)],
      prepare() {
        git(project, "add", "-A");
        git(project, "commit", "-q", "--allow-empty", "-m", "work so far");
        writeIn(project, path, `change ${number}\n`);
      },
      check(attempt) {
        const isClean = git(project, "status", "--porcelain", "--", path) === "";
        const subject = git(project, "log", "-1", "--format=%s");
        if (isClean && subject.startsWith(need(topic))) return undefined;
        if (isClean && subject.trim() !== "work so far") git(project, "reset", "-q", "--soft", "HEAD~1");
        return { correction: varied(chance, attempt, forms), undo: [] };
      },
    };
  },
};

/** Target of the deployments of a project, which stands in no file. */
export const deploy: Family = {
  name: "deploy",
  kind: "fact",
  scope: "project",
  open,
  change,
  task(topic, plan) {
    const { noun } = topic;
    const token = need(topic);
    return fileTask(topic, plan, {
      family: "deploy",
      kind: "fact",
      hint: `The target of a ${noun} deployment is \`${token}\`.`,
      path: `deploy/${plan.number}.json`,
      prompt: `Write the ${noun} deployment of build ${plan.number} to deploy/${plan.number}.json.`,
      forms: [
        `Wrong target. The ${noun} deployments of this project go to \`${token}\`.`,
        `No, in this project ${noun} deployments run on \`${token}\`.`,
        `I undid the file: the target of a ${noun} deployment is \`${token}\` here.`,
      ],
    });
  },
};

/** Test command of a project, which a page of its handbook names. */
export const verify: Family = {
  name: "verify",
  kind: "fact",
  scope: "project",
  open(project, noun, words) {
    const topic: Topic = { project, noun, needs: {} };
    installCheck(topic, words);
    return topic;
  },
  change: installCheck,
  task(topic, plan) {
    const { project, noun } = topic;
    const count = (): number => readIn(project, `.${noun}`)?.split("\n").length ?? 0;
    let before = 0;
    return {
      family: "verify",
      kind: "fact",
      project,
      topic,
      files: [],
      hints: () => [`The ${noun} check runs with \`tools/${topic.needs["program"]} --lane ${topic.needs["lane"]}\`.`],
      prompt: `Run the ${noun} check of this project for build ${plan.number}.`,
      needs: () => [topic.needs["program"] ?? ""],
      prepare() {
        before = count();
      },
      check: () =>
        count() > before
          ? undefined
          : { correction: `The ${noun} check did not run. Find out how it is run.`, undo: [] },
    };
  },
};

function installCheck(topic: Topic, words: { token(): string }): void {
  const { project, noun, needs } = topic;
  const old = needs["program"];
  if (old !== undefined)
    writeProgram(project, `tools/${old}`, "echo 'this check was replaced; see the handbook' >&2\nexit 1");
  const [program, lane] = [words.token(), words.token()];
  topic.needs = { program, lane };
  writeProgram(
    project,
    `tools/${program}`,
    `[ "$1 $2" = "--lane ${lane}" ] || { echo "the lane is wrong" >&2; exit 2; }\necho checked >> .${noun}\necho "all is sound"\n[ -e .say ] && cat .say\nexit 0`,
  );
  const command = `tools/${program} --lane ${lane}`;
  writeIn(project, `docs/${noun}.md`, `# Handbook\n\nThe ${noun} check of this project runs with \`${command}\`.\n`);
}

/** Name that the user chose in an earlier session and that no file has any more. */
export const decision: Family = {
  name: "decision",
  kind: "decision",
  scope: "project",
  open,
  change,
  task(topic, plan) {
    const { noun } = topic;
    const again = [
      `That is not the name that we chose for the ${noun} queue. I told you in an earlier session.`,
      `No. We decided on another name for the ${noun} queue; look it up.`,
    ];
    return fileTask(topic, plan, {
      family: "decision",
      kind: "decision",
      hint: `The ${noun} queue has the name \`${need(topic)}\`.`,
      path: `consumers/${plan.number}.conf`,
      prompt: `Write the consumer ${plan.number} of the ${noun} queue to consumers/${plan.number}.conf.`,
      forms: again,
    });
  },
};

/** The session in which the user makes the decision of a topic. */
export function decisionTask(topic: Topic, { number }: { readonly number: number }): Task {
  const { project, noun } = topic;
  const path = `queues/${number}.conf`;
  return {
    family: "decide",
    kind: "noise",
    project,
    topic,
    files: [join(project.path, path)],
    prompt: `Set up the ${noun} queue in ${path}. We decided on the name \`${need(topic)}\` for the ${noun} queue.`,
    needs: () => [],
    check: () =>
      readIn(project, path)?.includes(need(topic)) === true
        ? undefined
        : { correction: `The name is missing in ${path}.`, undo: [] },
    cleanUp: () => removeIn(project, "queues"),
  };
}

/** Work that comes once. */
export function noiseTask(
  project: Topic["project"],
  words: { noun(): string; token(): string },
  { number, chance }: { readonly number: number; readonly chance: Chance },
): Task {
  const [noun, other] = [words.noun(), words.token()];
  const path = `scratch/${number}.txt`;
  const prompts = [
    `Write a line about ${noun} with the word \`${other}\` to ${path}.`,
    `Put the word \`${other}\` into ${path}, for a test of ${noun}.`,
  ];
  return {
    family: "noise",
    kind: "noise",
    project,
    files: [join(project.path, path)],
    prompt: chance.pick(prompts),
    needs: () => [],
    check: () =>
      readIn(project, path)?.includes(other) === true ? undefined : { correction: `${path} lacks the word.`, undo: [] },
    cleanUp: () => removeIn(project, "scratch"),
  };
}
