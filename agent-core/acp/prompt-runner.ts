/** Runs the prompts of a session one after the other: as a slash command, or as a turn of the agent. */
import { type ContentBlock, type PromptResponse, RequestError } from "@zed-industries/agent-client-protocol";
import type { AIAgent } from "../agent/ai-agent.ts";
import type { StatusEvent } from "../agent/callbacks.ts";
import type { CommandAnswer } from "../agent/extensions.ts";
import { type RunOptions, TURN_RUNS } from "../agent/turn-runner.ts";
import { typedText } from "../messages/message.ts";
import { UsageError } from "../platform/errors.ts";
import { statOf } from "../platform/paths.ts";
import { changesSetting, commandIn } from "../protocol/conversation.ts";
import { failure } from "../protocol/handle.ts";
import type { Journal } from "../sessions/journal.ts";
import type { CommandSession } from "./commands/command.ts";
import { runCommand } from "./commands/slash-commands.ts";
import { noticeUpdate, userUpdates } from "./conversation-updates.ts";
import type { Goal } from "./goal.ts";
import { withUsage } from "./next-protocol.ts";
import { hasPictures, leftOut, userMessage, withFittingPictures, withText } from "./prompt-content.ts";
import { faultError, folderGone, sessionUnusable, throwRequestError } from "./request-errors.ts";
import type { AcpSessionOptions } from "./session-agent.ts";
import type { SessionModel } from "./session-model.ts";

/** Keeps the code that is compiled after a first turn for later processes. The bundle has it: scripts/compiled-core.ts. */
declare const __KEEP_COMPILED_CODE__: (() => void) | undefined;

/** Answer of a cancelled command. */
const CANCELLED = "";

export type PromptRunnerOptions = {
  readonly session: AcpSessionOptions;
  readonly agent: AIAgent;
  readonly model: SessionModel;
  readonly journal: Journal;
  /** Called with each prompt, before it runs. */
  readonly prompted: () => void;
  readonly status: (event: StatusEvent) => void;
  /** Closes the tool calls that never ran. */
  readonly endTurn: () => void;
  /** See `AcpSessionOptions`. */
  readonly beginTurn: () => () => void;
  /** The part of the session that a command may use; `signal` cancels the command. */
  readonly forCommands: (signal: AbortSignal) => CommandSession;
  readonly goal: Pick<Goal, "begin" | "step">;
  /** Stores the conversation after a turn. Undefined: it is not stored. */
  readonly saveTrajectory: ((completed: boolean) => Promise<void>) | undefined;
};

export class PromptRunner {
  /** The client keeps a message for the end of the turn. */
  isAwaited: boolean = false;
  readonly #options: PromptRunnerOptions;
  /** Settles with the last prompt. */
  #last: Promise<unknown> = Promise.resolve();
  /** Prompts that run or wait. */
  #count = 0;
  /** `cancel` aborts it, for the running prompt and those that wait. */
  #cancellation = new AbortController();

  constructor(options: PromptRunnerOptions) {
    this.#options = options;
  }

  /** Use of a message that comes while a turn runs, from a client that does not queue by itself. */
  get #busyMode() {
    return this.#options.session.configured.config.display.busyInputMode;
  }

  /**
   * Runs a prompt after the earlier ones; `/stop`, `/steer` and changes of a setting act at once. Throws a
   * `RequestError` for a message that cannot be sent, and rejects with one when the model cannot be used.
   */
  run(blocks: readonly ContentBlock[], requestSignal: AbortSignal): Promise<PromptResponse> {
    const { prompted, session, status } = this.#options;
    prompted();
    const learnt = session.takeLearnt();
    if (learnt.length > 0) status({ severity: "info", message: learnt.join(" ") });
    for (const message of leftOut(blocks)) status({ severity: "warning", message });
    return this.#queue(userMessage(blocks), requestSignal);
  }

  #queue(message: RunOptions["userMessage"], requestSignal: AbortSignal): Promise<PromptResponse> {
    const runAfterwards = (): Promise<PromptResponse> => this.#queue(message, requestSignal);
    const interjected = this.#count > 0 ? this.#interject(message, requestSignal, runAfterwards) : undefined;
    if (interjected !== undefined) return interjected;
    const isPlain = commandIn(typedText(message)).name === undefined;
    if (this.#count > 0 && isPlain && this.#busyMode === "interrupt") this.cancel();
    const signal = AbortSignal.any([requestSignal, this.#cancellation.signal]);
    this.#count += 1;
    const prompt = this.#last
      .then(() => this.#runPrompt(message, signal))
      .finally(() => {
        this.#count -= 1;
      });
    this.#last = prompt.catch(() => undefined);
    return prompt;
  }

  /** Runs work that must not overlap a turn. Throws the protocol's error when a prompt runs or waits. */
  betweenTurns<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#count > 0) throw new RequestError(-32600, TURN_RUNS);
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** Cancels the running prompt and those that wait. `reason` is there when it is not the user who cancels. */
  cancel(reason?: Error): void {
    this.#cancellation.abort(reason);
    this.#cancellation = new AbortController();
  }

  /** Settles when nothing runs or waits any more. */
  async idle(): Promise<void> {
    await this.#last;
  }

  /**
   * Runs a command that acts beside the running prompt. Undefined for any other message, and for one that came too late.
   * `runAfterwards`: for a message whose turn ended while its pictures were scaled.
   */
  #interject(
    message: RunOptions["userMessage"],
    signal: AbortSignal,
    runAfterwards: () => Promise<PromptResponse>,
  ): Promise<PromptResponse> | undefined {
    const { agent } = this.#options;
    const text = typedText(message);
    const { name, argument } = commandIn(text);
    if (name === "stop") {
      this.cancel();
      return this.#last.then(() => ({ stopReason: "end_turn" }));
    }
    if (changesSetting(text)) return this.#changeSetting(message, signal);
    const isMeant = name === "steer" && argument !== "";
    const isByDefault = name === undefined && this.#busyMode === "steer";
    if (!isMeant && !isByDefault) return undefined;
    const steered = isMeant ? withText(message, argument) : message;
    if (hasPictures(steered)) {
      return withFittingPictures(steered, agent, signal).then((fitting) =>
        agent.turns.steer(fitting) ? { stopReason: "end_turn" } : runAfterwards(),
      );
    }
    return agent.turns.steer(steered) ? Promise.resolve({ stopReason: "end_turn" }) : undefined;
  }

  /** The answer is a notice, which is plain text: as a message it would be a part of the running one. */
  async #changeSetting(message: RunOptions["userMessage"], signal: AbortSignal): Promise<PromptResponse> {
    const commands = this.#options.forCommands(signal);
    const answer = await this.#answer(typedText(message), commands);
    if (typeof answer === "string" && answer !== CANCELLED)
      commands.send(noticeUpdate("info", answer.replaceAll("`", ""), undefined));
    return { stopReason: signal.aborted ? "cancelled" : "end_turn" };
  }

  async #runPrompt(message: RunOptions["userMessage"], signal: AbortSignal): Promise<PromptResponse> {
    if (signal.aborted) return { stopReason: "cancelled" };
    if (this.#options.session.task !== undefined) return this.#runTurn(message, signal); // takes no commands
    const commands = this.#options.forCommands(signal);
    const answer = await this.#answer(typedText(message), commands);
    if (signal.aborted && answer === CANCELLED) return { stopReason: "cancelled" };
    if (answer === undefined) return this.#runTurns(message, signal);
    if (typeof answer === "object") return this.#runTurns(this.#shown(message, answer.ask, commands), signal);
    commands.send({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: answer } });
    return { stopReason: "end_turn" };
  }

  /** A command that did nothing is an answer in an editor, and an error on the command line, which has an exit code. */
  async #answer(
    text: string,
    commands: CommandSession,
  ): Promise<Exclude<CommandAnswer, { failed: string }> | undefined> {
    const isCommandLine = this.#options.session.identity.platform === "cli";
    try {
      const answer = await runCommand(text, commands);
      if (typeof answer !== "object" || !("failed" in answer)) return answer;
      if (isCommandLine) throw failure(answer.failed);
      return answer.failed;
    } catch (error) {
      if (commands.signal.aborted) return CANCELLED;
      return error instanceof UsageError && !isCommandLine ? error.message : throwRequestError(error);
    }
  }

  /** Shows the message as the user's, because the client does not know it. */
  #shown(
    message: RunOptions["userMessage"],
    text: RunOptions["userMessage"],
    { send }: Pick<CommandSession, "send">,
  ): RunOptions["userMessage"] {
    for (const update of userUpdates({ role: "user", content: text }, undefined)) send(update);
    return withText(message, text);
  }

  /** A turn, and the turns of a goal after it, until another message waits. */
  async #runTurns(first: RunOptions["userMessage"], signal: AbortSignal): Promise<PromptResponse> {
    const { goal, forCommands } = this.#options;
    for (let message = first; ; ) {
      goal.begin();
      const response = await this.#runTurn(message, signal);
      const step = await goal.step(response.stopReason, signal);
      if (step === undefined) return response;
      const commands = forCommands(signal);
      commands.send(noticeUpdate("info", step.note, undefined));
      if (step.message === undefined || signal.aborted || this.#count > 1 || this.isAwaited) return response;
      message = this.#shown("", step.message, commands);
    }
  }

  async #runTurn(asked: RunOptions["userMessage"], signal: AbortSignal): Promise<PromptResponse> {
    const { session, agent, model, journal, endTurn, beginTurn, saveTrajectory } = this.#options;
    const { cwd } = session.params;
    if (statOf(cwd) === undefined) throw folderGone(cwd); // its files would be made again
    const message = await withFittingPictures(asked, agent, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
      return asked; // the turn ends at once
    });
    const problem = journal.claim();
    if (problem !== undefined) throw sessionUnusable(session.id, problem);
    model.record();
    const turnEnded = beginTurn();
    const usage = agent.setup.ledger.sum;
    try {
      const { stopReason, fault } = await agent.turns.run({ userMessage: message, signal });
      await saveTrajectory?.(stopReason === "end_turn");
      if (stopReason !== "error") return withUsage({ stopReason }, usage, agent.setup.ledger.sum);
      if (fault !== undefined) throw faultError(fault, session.identity.keyHint);
      throw new Error("The turn failed without a reported cause.");
    } finally {
      turnEnded();
      if (typeof __KEEP_COMPILED_CODE__ === "function") setImmediate(__KEEP_COMPILED_CODE__);
      endTurn();
      model.announce();
      model.refresh();
    }
  }
}
