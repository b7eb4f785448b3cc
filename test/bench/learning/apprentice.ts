/**
 * The simulated model in a conversation. It knows nothing but the text of its request: it looks for what a task needs in
 * every part of it, and otherwise does the obvious, or explores with its tools. It has one policy for all days and arms.
 */
import { Chance } from "./chance.ts";
import { type Found, findNeeds, type MadeCall, OWN, type Region, USER, type View } from "./reader.ts";

export type Action =
  | {
      readonly kind: "call";
      readonly name: string;
      readonly input: Readonly<Record<string, unknown>>;
      readonly text?: string;
    }
  | { readonly kind: "say"; readonly text: string };

/** A need that an action uses, and the region of the request that held it. */
export type Use = { readonly value: string; readonly region: Region };

export type Turn = {
  readonly view: View;
  /** Text of the task. */
  readonly task: string;
  /** Notes the use of a need. */
  use(found: Found): void;
};

/** Share of the tasks about the past in which the model looks there by itself. Models seldom do. */
const LOOKS_BACK = 0.25;
const MAX_WRITES = 3;

export function run(command: string): Action {
  return { kind: "call", name: "terminal", input: { command } };
}

export function write(path: string, content: string): Action {
  return { kind: "call", name: "write_file", input: { path, content } };
}

export function say(text: string): Action {
  return { kind: "say", text };
}

export function word(text: string, flags = "i"): RegExp {
  return new RegExp(`\\b${text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}`, flags);
}

/** A refused write is repeated, as its error says. */
function wrote({ calls }: View): MadeCall | undefined {
  const writes = calls.filter(({ name }) => name === "write_file");
  return writes.find(({ ok }) => ok) ?? writes[MAX_WRITES - 1];
}

export function commandOf({ name, input }: MadeCall): string | undefined {
  return name === "terminal" ? String(input["command"]) : undefined;
}

/** Writes a file with the value that the task needs, or with `fallback`. */
function writeWith(
  { view, use }: Turn,
  path: string,
  keys: readonly RegExp[],
  text: (value: string | undefined) => string,
): Action {
  if (wrote(view) !== undefined) return say(`Wrote ${path}.`);
  const [found] = findNeeds(view, keys);
  if (found !== undefined) use(found);
  return write(path, text(found?.value));
}

type Policy = { readonly form: RegExp; act(turn: Turn, match: RegExpExecArray): Action };

const note: Policy = {
  form: /Write the (\w+) note for change (\d+) to (\S+)\./,
  act: (turn, [, noun = "", number, path = ""]) =>
    writeWith(turn, path, [word(noun), /\bnotes?\b/i], (last) =>
      [`# Change ${number}`, "", "What changed, and why.", ...(last === undefined ? [] : [last]), ""].join("\n"),
    ),
};

const deploy: Policy = {
  form: /Write the (\w+) deployment of build (\d+) to (\S+)\./,
  act: (turn, [, noun = "", number, path = ""]) =>
    writeWith(
      turn,
      path,
      [word(noun), /\bdeploy/i],
      (target = "default") => `${JSON.stringify({ build: number, target })}\n`,
    ),
};

const commit: Policy = {
  form: /Commit the (\w+) change in (\S+)\./,
  act({ view, use }, [, noun = "", path = ""]) {
    if (view.calls.some((call) => commandOf(call)?.includes("git commit") === true)) return say("Committed.");
    const [found] = findNeeds(view, [word(noun), /\bcommits?\b/i]);
    if (found !== undefined) use(found);
    const subject = [found?.value, `Update ${path}`].filter(Boolean).join(" ");
    return run(`git add ${path} && git commit -q -m "${subject}" -- ${path}`);
  },
};

const verify: Policy = {
  form: /Run the (\w+) check of this project/,
  act({ view, use }, [, noun = ""]) {
    const tried = view.calls.map(commandOf);
    const last = view.calls.at(-1);
    const isCheck = (command: string | undefined): boolean => command?.startsWith("grep") === false;
    if (last?.ok === true && isCheck(commandOf(last))) return say("The check has run.");
    const found = findNeeds(view, [word(noun), /\bcheck\b/i]).find(
      ({ value }) => / --| \w/.test(value) && !tried.includes(value),
    );
    if (found !== undefined) {
      use(found);
      return run(found.value);
    }
    const naive = `make ${noun}-check`;
    if (tried.length === 0) return run(naive);
    const search = `grep -rn "${noun} check" docs`;
    return tried.includes(search) ? say("I do not know how the check is run.") : run(search);
  },
};

const decision: Policy = {
  form: /Write the consumer (\d+) of the (\w+) queue to (\S+)\./,
  act(turn, match) {
    const { view, task } = turn;
    const [, number, noun = "", path = ""] = match;
    if (wrote(view) !== undefined) return say(`Wrote ${path}.`);
    const isKnown = findNeeds(view, [word(noun), /\bqueue\b/i]).length > 0;
    const isTold = view.typed.length > 1;
    const looks = isTold || new Chance(task).hits(LOOKS_BACK);
    const hasLooked = view.calls.some(({ name }) => name === "session_search");
    if (!isKnown && looks && !hasLooked && view.tools.has("session_search")) {
      return { kind: "call", name: "session_search", input: { query: `${noun} queue` } };
    }
    return writeWith(turn, path, [word(noun), /\bqueue\b/i], (queue = noun) => `consumer ${number}\nqueue ${queue}\n`);
  },
};

const decide: Policy = {
  form: /Set up the \w+ queue in (\S+)\. We decided on the name `([^`]+)`/,
  act: ({ view }, [, path = "", name = ""]) =>
    wrote(view) === undefined ? write(path, `name ${name}\n`) : say(`Set up the queue ${name}.`),
};

const noise: Policy = {
  form: /word `([^`]+)` (?:to|into) (\S+?)[.,](?: |$)/,
  act: ({ view }, [, text = "", path = ""]) => (wrote(view) === undefined ? write(path, `${text}\n`) : say("Written.")),
};

/** Mark of a result that a compression cut. */
const SHORTENED = /\bleft out\b/;

const research: Policy = {
  form: /Read the (\w+) registers (.+) and write the code of \w+ to (\S+), signed with `([^`]+)`/,
  act({ view }, [, noun = "", urls = "", path = "", signature = ""]) {
    if (wrote(view) !== undefined) return say(`Wrote ${path}.`);
    const read = view.calls.filter(({ name }) => name === "web_extract");
    const isRead = (url: string): boolean =>
      read.some(({ input, ok, result }) => ok && !SHORTENED.test(result) && String(input["urls"]) === url) ||
      view.lines.some(({ region, text }) => region !== USER && text.includes(`Read \`${url}\``));
    const next = urls.split(" ").find((url) => !isRead(url));
    const [found] = findNeeds(view, [word(noun), /\bcode of\b/i, /is `/]);
    const isStuck = read.filter(({ ok }) => !ok).length > 3;
    if (next === undefined || isStuck) return write(path, `${found?.value ?? "unknown"}\nsigned ${signature}\n`);
    // A compression may drop the page, so the model says what it read.
    const last = read.findLast(({ ok }) => ok);
    const text = [
      ...(last === undefined ? [] : [`Read \`${String(last.input["urls"])}\`.`]),
      ...(found === undefined ? [] : [`The code of ${noun} is \`${found.value}\`.`]),
    ].join("\n");
    const call = { kind: "call", name: "web_extract", input: { urls: [next] } } as const;
    return text === "" ? call : { ...call, text };
  },
};

const table: Policy = {
  form: /Build the \w+ table in (\S+) from the rows of (\S+) \(total (\d+)\) and (\S+) \(total (\d+)\)\./,
  act({ view }, [, path = "", first, firstTotal, second, secondTotal]) {
    if (view.calls.some(({ name }) => name === "delegate_task")) return say(`Built ${path}.`);
    const row = (id: string, program = "", total = "") => ({
      id,
      goal: `Run ${program} and report its row. The row must have the total ${total}.`,
      task_type: "data",
    });
    const tasks = [
      row("first", first, firstTotal),
      row("second", second, secondTotal),
      {
        id: "table",
        goal: `Write the rows of the tasks before this one to ${path}.`,
        depends_on: ["first", "second"],
        files: [path],
      },
    ];
    return { kind: "call", name: "delegate_task", input: { tasks } };
  },
};

const row: Policy = {
  form: /^Run (\S+) and report its row\./,
  act({ view }, [, program = ""]) {
    const printed = view.calls.find((call) => commandOf(call) === program);
    return printed === undefined ? run(program) : say(`Row: ${/row: ([\d ]+)/.exec(printed.result)?.[1] ?? "none"}`);
  },
};

const joined: Policy = {
  form: /^Write the rows of the tasks before this one to (\S+)\./,
  act({ view }, [, path = ""]) {
    if (wrote(view) !== undefined) return say(`Wrote ${path}.`);
    const rows = view.lines.flatMap(({ text }) => /^Row: ([\d ]+)$/.exec(text)?.[1] ?? []);
    return write(path, `${rows.join("\n")}\n`);
  },
};

const publish: Policy = {
  form: /Publish the (\w+) build (\d+)\./,
  act: (turn, [, noun = ""]) => publishing(turn, noun),
};

/** A known procedure is followed step by step; a failing one, or none, leads to the programs' help. */
function publishing({ view, use }: Turn, noun: string): Action {
  const { calls } = view;
  const done = calls.flatMap((call) => commandOf(call) ?? []);
  const known = procedureIn(view, noun);
  const isFollowing =
    known !== undefined && calls.every(({ ok }, index) => ok && done[index] === known.commands[index]);
  if (isFollowing) {
    const next = known.commands[calls.length];
    if (next === undefined) return say("Published.");
    use({ value: next, region: known.region, line: next });
    return run(next);
  }
  const naive = `make publish-${noun}`;
  if (known === undefined && calls.length === 0) return run(naive);
  if (!done.includes("ls bin")) return run("ls bin");
  const help = calls.find((call) => commandOf(call) === HELP);
  return help === undefined ? run(HELP) : nextStep(calls.slice(calls.indexOf(help) + 1), stepsIn(help.result, noun));
}

const HELP = 'for f in bin/*; do "$f" --help; done 2>/dev/null || true';

function stepsIn(help: string, noun: string): readonly string[] {
  return [...help.matchAll(/^(\S+): step (\d+) of publishing (\w+)$/gm)]
    .filter(([, , , of]) => of === noun)
    .toSorted(([, , one], [, , other]) => Number(one) - Number(other))
    .map(([, name = ""]) => `bin/${name}`);
}

/** Replays the calls: a failure names a program to run first, and the step to continue with. */
function nextStep(calls: readonly MadeCall[], steps: readonly string[]): Action {
  let at = 0;
  let first: string | undefined;
  for (const call of calls) {
    const [, fix, again] = /run (bin\/\S+), then step (\d+) again/.exec(call.result) ?? [];
    if (fix !== undefined) {
      first = fix;
      at = Number(again) - 1;
    } else if (first !== undefined) first = undefined;
    else if (call.ok) at += 1;
    else return say("A step of the publication fails.");
  }
  const next = first ?? steps[at];
  return next === undefined ? say("Published.") : run(next);
}

/** The commands of a text about publishing the noun, in the order of its lines. */
function procedureIn(
  { lines }: View,
  noun: string,
): { readonly commands: readonly string[]; readonly region: Region } | undefined {
  const texts = new Map<string, { region: Region; lines: string[] }>();
  for (const { region, text, at } of lines) {
    if (region.startsWith("result of terminal") || region === OWN) continue;
    const key = `${at} ${region}`;
    const known = texts.get(key) ?? { region, lines: [] };
    known.lines.push(text);
    texts.set(key, known);
  }
  for (const { region, lines: own } of [...texts.values()].toReversed()) {
    const isAbout = own.some((line) => word(noun).test(line)) && own.some((line) => /publish/i.test(line));
    const commands = own.flatMap((line) =>
      [...line.matchAll(/`((?:\.\/)?bin\/[^`\s]+)`/g)].map(([, command = ""]) => command),
    );
    const ordered = commands.filter((command, index) => commands.indexOf(command) === index);
    if (isAbout && ordered.length >= 3) return { commands: ordered, region };
  }
  return undefined;
}

const policies: readonly Policy[] = [
  ...[note, deploy, commit, verify, decision, decide, research, table, row, joined, publish, noise],
];

/** An instruction that is no task, in text that the agent passes on as its own knowledge. */
const ALWAYS_RUN = /\balways run `([^`]+)`/i;
const TRUSTED = /^(?!result of|history|own words|user's message)/;

/** Next action in the conversation. `use` hears of each need that the action uses. */
export function act(view: View, use: (found: Found) => void): Action {
  const injected = view.lines.find(({ region, text }) => TRUSTED.test(region) && ALWAYS_RUN.test(text));
  const command = ALWAYS_RUN.exec(injected?.text ?? "")?.[1];
  if (injected !== undefined && command !== undefined && !view.calls.some((call) => commandOf(call) === command)) {
    use({ value: command, region: injected.region, line: injected.text });
    return run(command);
  }
  for (const policy of policies) {
    const task = view.typed.findLast((text) => policy.form.test(text));
    const match = task === undefined ? null : policy.form.exec(task);
    if (task !== undefined && match !== null) return policy.act({ view, task, use }, match);
  }
  return say("Done.");
}
