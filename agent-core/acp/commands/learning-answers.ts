/** Answers of /learning: items that were learnt, and the loops that learn. */
import { dayText } from "../../learning/facts.ts";
import { plainText } from "../../learning/stored-reports.ts";
import { counted } from "../../platform/counted.ts";
import { type LearningState, LearningSwitch, LearntAction, type LearntItem } from "../../protocol/learning.ts";
import type { CommandSession } from "./command.ts";

/** Items in the list. */
const LISTED = 20;

const SYNTAX =
  "`/learning`, `/learning WORDS` to search, `/learning keep|forget|undo|pin|unpin ID`, `/learning both ID` for a line beside another, `/learning keep|forget waiting` for all that wait, `/learning on|off [LOOP]`, or `/learning run`";

const ACTIONS: ReadonlyMap<string, LearntAction> = new Map([
  ...LearntAction.options.map((action) => [action, action] as const),
  ["keep", "accept"],
]);

/** The action of a word; undefined for another word. */
export function learntAction(word: string): LearntAction | undefined {
  return ACTIONS.get(word);
}

/** Answer to `/learning` with this argument. */
export async function answerLearning(
  argument: string,
  { learning: access, cwd, signal }: Pick<CommandSession, "learning" | "cwd" | "signal">,
): Promise<string> {
  const [verb = "", what] = argument.split(/\s+/);
  if (argument === "run") return runNow(access, cwd, signal);
  if (verb === "on" || verb === "off") return switched(access, what ?? "enabled", verb === "on");
  const action = learntAction(verb);
  if (action !== undefined) return what === undefined ? `Type ${SYNTAX}.` : (await access.act(what, action)).message;
  return stateText(await access.state(), argument, { cwd });
}

type Access = CommandSession["learning"];

async function runNow(access: Access, cwd: string, signal: AbortSignal): Promise<string> {
  const before = new Set((await access.state()).items.map(({ id }) => id));
  if (!(await access.runNow(signal)))
    return "Another window of this home is learning at the moment. Try again in a minute.";
  const { items, obstacle } = await access.state();
  const fresh = items.filter(({ id }) => !before.has(id));
  if (obstacle !== undefined) return OBSTACLES[obstacle];
  if (fresh.length === 0) return "Everything that was due is done. Nothing new was learnt.";
  return ["Learnt:", "", ...fresh.slice(0, LISTED).map((item) => itemLine(item, cwd))].join("\n");
}

async function switched(access: Access, what: string, isOn: boolean): Promise<string> {
  const name = LearningSwitch.safeParse(what).data;
  if (name === undefined)
    return `There is no switch \`${what}\`. Available: ${LearningSwitch.options.map((one) => `\`${one}\``).join(", ")}.`;
  await access.setSwitch(name, isOn);
  return `\`learning.${name}\` is ${isOn ? "on" : "off"} in config.yaml.`;
}

const OBSTACLES: Readonly<Record<NonNullable<LearningState["obstacle"]>, string>> = {
  "no-model": "Nothing is learnt at the moment: learning needs a language model, and none is set up.",
  budget: "Nothing more is learnt today: the daily budget is spent (`learning.daily_tokens` and `learning.daily_usd`).",
};

/** `syntax`: default that of the slash command. */
type Shown = { readonly cwd: string; readonly syntax?: string };

/** State of learning and what was learnt, in Markdown; with `words`, only the items that contain them. */
export function stateText(state: LearningState, words: string, { cwd, syntax = SYNTAX }: Shown): string {
  const wanted = words.toLowerCase().split(/\s+/);
  const matching = state.items.filter(({ text, reason }) => {
    const searched = `${text} ${reason}`.toLowerCase();
    return wanted.every((word) => searched.includes(word));
  });
  const [waiting = [], learnt = []] = [true, false].map((isWaiting) =>
    matching.filter(({ state: of }) => (of === "proposed") === isWaiting),
  );
  // The episodes of all sessions come last, as on the learning page.
  const items = learnt.toSorted((one, other) => Number(one.kind === "episode") - Number(other.kind === "episode"));
  const nothing =
    words === "" ? "Nothing has been learnt yet." : `Nothing that was learnt contains “${plainText(words)}”.`;
  return [
    stateLines(state),
    ...(waiting.length === 0 ? [] : [listText("Waiting for your yes", waiting, cwd)]),
    ...(items.length === 0 ? [] : [listText("Learnt", items, cwd)]),
    ...(matching.length === 0 ? [nothing] : []),
    `Type ${syntax}.`,
  ].join("\n\n");
}

function listText(title: string, items: readonly LearntItem[], cwd: string): string {
  const lines = items.slice(0, LISTED).map((item) => itemLine(item, cwd));
  const more = items.length - LISTED;
  const rest = more > 0 ? `\n\n… and ${more} more: type \`/learning WORDS\` to search.` : "";
  return `**${title}**\n\n${lines.join("\n")}${rest}`;
}

function stateLines({ switches, loops, budget, obstacle }: LearningState): string {
  const { tokens, maxTokens, usd, maxUsd } = budget;
  const names = loops.map(({ loop, on }) => `${loop} ${on ? "on" : "off"}`).join(", ");
  return [
    `**Learning is ${switches.enabled ? "on" : "off"}**: ${names}, use ${switches.use ? "on" : "off"}.`,
    `Today: ${tokens.toLocaleString("en")} of ${maxTokens.toLocaleString("en")} tokens, $${usd.toFixed(2)} of $${maxUsd.toFixed(2)}.`,
    ...(obstacle === undefined ? [] : [OBSTACLES[obstacle]]),
  ].join("\n");
}

/** The text first, then since when, its use and its reason; the id for an action comes last. */
function itemLine(item: LearntItem, cwd: string): string {
  const { id, kind, text, scope, reason, used, state, pinned, version, at } = item;
  const project = scope === cwd ? "this project" : plainText(scope);
  const facts = [
    version === undefined ? kind : `${kind} ${version}`,
    scope === "user" ? "everywhere" : project,
    ...(state === "active" || state === "proposed" ? [] : [state]),
    ...(pinned ? ["pinned"] : []),
    `${state === "closed" || state === "retired" ? "until" : "since"} ${dayText(at)}`,
    used === 0 ? "not used yet" : `used in ${counted(used, "session")}`,
  ];
  return `- ${plainText(text)} *(${facts.join(", ")})* ${plainText(reason)} \`${id}\``;
}
