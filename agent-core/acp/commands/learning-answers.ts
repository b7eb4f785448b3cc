/** Answers of /learning: items that were learnt, and the loops that learn. */
import { plainText } from "../../learning/stored-reports.ts";
import { type LearningState, LearningSwitch, type LearntAction, type LearntItem } from "../../protocol/learning.ts";
import type { CommandSession } from "./command.ts";

/** Items in the list. */
const LISTED = 20;

const SYNTAX =
  "`/learning`, `/learning WORDS` to search, `/learning undo|forget|pin|unpin|accept ID`, `/learning on|off [LOOP]`, or `/learning run`";

export const ACTIONS: readonly LearntAction[] = ["undo", "forget", "pin", "unpin", "accept"];

/** Answer to `/learning` with this argument. */
export async function answerLearning(
  argument: string,
  { learning: access, cwd, signal }: Pick<CommandSession, "learning" | "cwd" | "signal">,
): Promise<string> {
  const [verb = "", what] = argument.split(/\s+/);
  if (argument === "run") return runNow(access, cwd, signal);
  if (verb === "on" || verb === "off") return switched(access, what ?? "enabled", verb === "on");
  const action = ACTIONS.find((known) => known === verb);
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
  const items = matching.toSorted((one, other) => placeOf(one) - placeOf(other));
  const more = items.length - LISTED;
  const lines = items.slice(0, LISTED).map((item) => itemLine(item, cwd));
  const nothing =
    words === "" ? "Nothing has been learnt yet." : `Nothing that was learnt contains “${plainText(words)}”.`;
  return [
    stateLines(state),
    lines.length === 0 ? nothing : `**Learnt**\n\n${lines.join("\n")}`,
    ...(more > 0 ? [`… and ${more} more: type \`/learning WORDS\` to search.`] : []),
    `Type ${syntax}.`,
  ].join("\n\n");
}

/** Place of an item in the list, as on the learning page: proposals first, and the episodes of all sessions last. */
function placeOf({ state, kind }: LearntItem): number {
  return state === "proposed" ? 0 : 1 + Number(kind === "episode");
}

function stateLines({ switches, loops, budget, obstacle }: LearningState): string {
  const { tokens, maxTokens, usd, maxUsd } = budget;
  const names = loops.map(({ loop, on }) => `${loop} ${on ? "on" : "off"}`).join(", ");
  return [
    `**Learning is ${switches.enabled ? "on" : "off"}**: ${names}, auto-tune ${switches.auto_tune ? "on" : "off"}, use ${switches.use ? "on" : "off"}.`,
    `Today: ${tokens.toLocaleString("en")} of ${maxTokens.toLocaleString("en")} tokens, $${usd.toFixed(2)} of $${maxUsd.toFixed(2)}.`,
    ...(obstacle === undefined ? [] : [OBSTACLES[obstacle]]),
  ].join("\n");
}

function itemLine(item: LearntItem, cwd: string): string {
  const { id, kind, text, scope, reason, seen, used, state, pinned, version } = item;
  const project = scope === cwd ? "this project" : plainText(scope);
  const facts = [
    version === undefined ? kind : `${kind} ${version}`,
    scope === "user" ? "everywhere" : project,
    ...(state === "active" ? [] : [state]),
    ...(pinned ? ["pinned"] : []),
    `seen ${seen}, used ${used}`,
  ];
  return `- \`${id}\` ${plainText(text)} *(${facts.join(", ")})* ${plainText(reason)}`;
}
