/**
 * A goal of the user that the agent pursues over turns. After each turn a model judges the work; while something is missing,
 * the next turn begins by itself, up to a budget of turns. The journal keeps the goal.
 */
import type { SessionUpdate, StopReason } from "@zed-industries/agent-client-protocol";
import type { AIAgent } from "../agent/ai-agent.ts";
import type { CommandAnswer } from "../agent/extensions.ts";
import { typedText } from "../messages/message.ts";
import { messageOf, UsageError } from "../platform/errors.ts";
import { oneLine } from "../platform/one-line.ts";
import type { EntryOf } from "../sessions/entry.ts";
import type { NewEntry } from "../sessions/journal.ts";
import { infoUpdate } from "./conversation-updates.ts";

/** Default budget, as the original Hermes Agent has it. */
const DEFAULT_TURNS = 20;
const MAX_TURNS = 200;
/** Tool results of a turn that the judge sees, and their length in characters. */
const MAX_FACTS = 60;
const FACT_CHARS = 300;
/** Two blanks, with which the panel of VS Code folds what follows. The first words are the title of a session. */
const FOLD = "  \n\n";

type State = Omit<EntryOf<"goal">, "type" | "at">;

export type GoalOptions = {
  readonly agent: Pick<AIAgent, "transcript" | "judge">;
  /** Goal of the journal. */
  readonly stored: State | undefined;
  readonly record: (entry: NewEntry) => void;
  readonly send: (update: SessionUpdate) => void;
};

/** Step after a turn: a line for the user, and the message of the next turn. Without a message the goal rests. */
export type GoalStep = { readonly note: string; readonly message?: string };

export class Goal {
  readonly #options: GoalOptions;
  #goal: State | undefined;
  /** Position of the first message of the turn that runs. */
  #from = 0;

  constructor(options: GoalOptions) {
    this.#options = options;
    this.#goal = options.stored;
  }

  /** Answers `/goal`. Throws a UsageError for a wrong budget. */
  answer(argument: string): CommandAnswer {
    const [word = "", number] = argument.split(/\s+/);
    switch (word) {
      case "":
      case "status":
        return this.#text();
      case "pause":
      case "clear":
        return this.#change(word === "pause" ? "paused" : "cleared");
      case "budget":
        return this.#setBudget(Number(number));
      case "resume":
        if (this.#goal === undefined || this.#goal.state === "cleared") return this.#text();
        this.#set({ ...this.#goal, state: "active", turns: 0 });
        return { ask: `Continue to work on the goal until it is reached.${FOLD}${this.#goal.text}` };
      default:
        this.#set({ text: argument, state: "active", turns: 0, budget: this.#goal?.budget ?? DEFAULT_TURNS });
        return { ask: `${argument}${FOLD}Work on this goal until it is reached. Check each criterion yourself.` };
    }
  }

  begin(): void {
    this.#from = this.#options.agent.transcript.at(-1)?.position ?? 0;
  }

  /** Judges the turn that has ended. Undefined without an active goal. Never rejects. */
  async step(stopReason: StopReason, signal: AbortSignal): Promise<GoalStep | undefined> {
    const goal = this.#goal;
    if (goal?.state !== "active") return undefined;
    if (stopReason === "cancelled" || signal.aborted) return this.#rest("paused", "It was stopped.");
    const turns = goal.turns + 1;
    const verdict = await this.#options.agent.judge(this.#parts(goal.text), signal).catch((error: unknown) => {
      return { problem: signal.aborted ? "It was stopped." : `Nobody could judge it: ${messageOf(error)}` };
    });
    if (this.#goal !== goal) return undefined; // changed meanwhile
    this.#set({ ...goal, turns });
    if ("problem" in verdict) return this.#rest("paused", verdict.problem);
    if (verdict.isReached) return this.#rest("met", verdict.reason);
    if (turns >= goal.budget)
      return this.#rest("paused", `Its budget of ${goal.budget} turns is used. ${verdict.reason}`);
    const note = `Goal: turn ${turns + 1} of ${goal.budget}. ${oneLine(verdict.reason, FACT_CHARS)}`;
    return {
      note,
      message: `The goal is not reached yet. ${verdict.reason}${FOLD}Continue until all of it is done:\n\n${goal.text}`,
    };
  }

  #rest(state: State["state"], reason: string): GoalStep {
    this.#change(state);
    const hint = state === "paused" ? " Type /goal resume to go on, or /goal clear." : "";
    return { note: `The goal is ${state === "met" ? "reached" : "paused"}. ${oneLine(reason, FACT_CHARS)}${hint}` };
  }

  #change(state: State["state"]): string {
    if (this.#goal !== undefined) this.#set({ ...this.#goal, state });
    return this.#text();
  }

  #setBudget(budget: number): string {
    if (!Number.isInteger(budget) || budget < 1 || budget > MAX_TURNS)
      throw new UsageError(`A budget is a number of turns from 1 to ${MAX_TURNS}, such as \`/goal budget 5\`.`);
    if (this.#goal !== undefined) this.#set({ ...this.#goal, budget });
    return this.#text();
  }

  #set(goal: State): void {
    this.#goal = goal;
    this.#options.record({ type: "goal", ...goal });
    this.#options.send(infoUpdate({ goal: goal.state }));
  }

  #text(): string {
    const goal = this.#goal;
    if (goal === undefined || goal.state === "cleared")
      return "There is no goal. Type `/goal TEXT`; lines that begin with `-` are its criteria.";
    return `The goal is ${goal.state}: turn ${goal.turns} of ${goal.budget}.\n\n${goal.text}`;
  }

  /** The last answer of the turn, and its tool calls with the beginning of their results. */
  #parts(task: string) {
    const turn = this.#options.agent.transcript.filter(({ position }) => position > this.#from);
    const messages = turn.map(({ message }) => message);
    const answer = messages.findLast(({ role }) => role === "assistant");
    const facts = messages.flatMap((message) => {
      if (message.role === "assistant")
        return (message.tool_calls ?? []).map(({ function: { name, arguments: input } }) => `${name} ${input}`);
      return message.role === "tool" ? [`→ ${typedText(message.content)}`] : [];
    });
    return {
      task,
      result: answer === undefined ? "" : typedText(answer.content ?? ""),
      facts: facts
        .slice(-MAX_FACTS)
        .map((fact) => `- ${oneLine(fact, FACT_CHARS)}`)
        .join("\n"),
    };
  }
}
