/**
 * Conversations in ShareGPT's form, as the original Hermes Agent writes them: a system turn with the tools, each answer
 * with its thoughts and calls, and one turn for all results of an answer.
 */
import { mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { contentText, type Message } from "../messages/message.ts";
import { messageOf } from "../platform/errors.ts";
import { parseJson } from "../platform/json.ts";
import { withLock } from "../platform/locks/file-lock.ts";
import { pythonJson, pythonTime } from "../platform/python-json.ts";
import type { HermesTrajectory, HermesTrajectoryMessage, ShareGptTurn } from "../protocol/trajectory.ts";
import type { Conversation, TranscriptEntry } from "./conversation.ts";

type Schema = HermesTrajectory["tools"][number];

/** Text of the format around the list of tools; trainers compare it literally. */
const BEFORE_TOOLS =
  "You are a function calling AI model. You are provided with function signatures within <tools> </tools> XML tags. You may call one or more functions to assist with the user query. If available tools are not relevant in assisting with user query, just respond in natural conversational language. Don't make assumptions about what values to plug into functions. After calling & executing the functions, you will be provided with function results within <tool_response> </tool_response> XML tags. Here are the available tools:\n<tools>\n";
const AFTER_TOOLS =
  "\n</tools>\nFor each function call return a JSON object, with the following pydantic model json schema for each:\n{'title': 'FunctionCall', 'type': 'object', 'properties': {'name': {'title': 'Name', 'type': 'string'}, 'arguments': {'title': 'Arguments', 'type': 'object'}}, 'required': ['name', 'arguments']}\nEach function call should be enclosed within <tool_call> </tool_call> XML tags.\nExample:\n<tool_call>\n{'name': <function-name>,'arguments': <args-dict>}\n</tool_call>";

/** The messages that models got, without answers that were cut off. */
function trajectoryMessages(transcript: readonly TranscriptEntry[]): readonly HermesTrajectoryMessage[] {
  return transcript.flatMap(({ position, isCutOff, message }) => {
    const read = isCutOff ? undefined : readMessage(message);
    return read === undefined ? [] : [{ position, ...read }];
  });
}

function readMessage(message: Message): Omit<HermesTrajectoryMessage, "position"> | undefined {
  switch (message.role) {
    case "system":
      return undefined;
    case "user":
      return { role: "user", text: contentText(message.content, "\n", "") };
    case "tool":
      return { role: "tool", text: message.content, callId: message.tool_call_id };
    case "assistant": {
      const { content, reasoning, tool_calls: calls } = message;
      return {
        role: "assistant",
        text: content ?? "",
        ...(reasoning !== undefined && { reasoning }),
        ...(calls && { calls: calls.map(({ id, function: called }) => ({ id, ...called })) }),
      };
    }
  }
}

/** The whole conversation. A system turn precedes it. */
export function shareGpt(messages: readonly HermesTrajectoryMessage[], tools: readonly Schema[]): ShareGptTurn[] {
  const listed = tools.map(({ name, description, parameters }) => ({ name, description, parameters, required: null }));
  const turns: ShareGptTurn[] = [{ from: "system", value: BEFORE_TOOLS + pythonJson(listed) + AFTER_TOOLS }];
  let names = new Map<string, string>();
  let results: string[] = [];
  const endResults = (): void => {
    if (results.length > 0) turns.push({ from: "tool", value: results.join("\n") });
    results = [];
  };
  for (const message of messages) {
    if (message.role === "tool") {
      results.push(response(message, names));
      continue;
    }
    endResults();
    if (message.role === "user") turns.push({ from: "human", value: message.text });
    else {
      names = new Map(message.calls?.map(({ id, name }) => [id, name]));
      turns.push({ from: "gpt", value: answer(message) });
    }
  }
  endResults();
  return turns;
}

function answer({ text, reasoning = "", calls = [] }: HermesTrajectoryMessage): string {
  const thoughts = reasoning.trim() === "" ? "" : `<think>\n${reasoning}\n</think>\n`;
  const words = text.replaceAll(/<(\/?)REASONING_SCRATCHPAD>/g, "<$1think>");
  const written = calls.map(({ name, arguments: json }) => {
    return `<tool_call>\n${pythonJson({ name, arguments: argumentsOf(json) })}\n</tool_call>\n`;
  });
  const spoken = calls.length > 0 && words.trim() !== "" ? `${words}\n` : words;
  const value = thoughts + (calls.length > 0 && words.trim() === "" ? "" : spoken) + written.join("");
  return (value.includes("<think>") ? value : `<think>\n</think>\n${value}`).trim();
}

function argumentsOf(json: string): unknown {
  const parsed = parseJson(json);
  return typeof parsed === "object" && parsed !== null ? parsed : {};
}

function response({ text, callId = "" }: HermesTrajectoryMessage, names: ReadonlyMap<string, string>): string {
  const parsed = /^\s*[[{]/.test(text) ? parseJson(text) : undefined;
  const content = { tool_call_id: callId, name: names.get(callId) ?? "unknown", content: parsed ?? text };
  return `<tool_response>\n${pythonJson(content)}\n</tool_response>`;
}

/** The agent of a session, as far as a trajectory shows it. */
type ShownAgent = {
  readonly setup: {
    readonly models: { readonly current: { readonly model: string } };
    readonly catalogue: {
      readonly tools: readonly { readonly schema: Schema }[];
      readonly known: readonly string[];
    };
    readonly ledger: { readonly sum: { readonly costUsd: number | undefined } };
  };
  readonly session: {
    readonly conversation: Pick<Conversation, "transcript">;
    readonly systemPrompt: string | undefined;
  };
  readonly turns: { readonly steps: HermesTrajectory["steps"]; readonly failedCalls: ReadonlySet<string> };
};

/** The session as training data. */
export function trajectoryOf({ setup, session, turns }: ShownAgent): HermesTrajectory {
  const messages = trajectoryMessages(session.conversation.transcript);
  const { tools, known } = setup.catalogue;
  const schemas = tools.map(({ schema }) => schema);
  const { costUsd } = setup.ledger.sum;
  return {
    model: setup.models.current.model,
    systemPrompt: session.systemPrompt ?? "",
    messages,
    conversations: shareGpt(messages, schemas),
    tools: schemas,
    knownTools: known,
    steps: turns.steps,
    failedCalls: [...turns.failedCalls],
    ...(costUsd !== undefined && { costUsd }),
  };
}

/** Names of the original's files for turns that ended well, and for the others. */
const FILES = { completed: "trajectory_samples.jsonl.gz", failed: "failed_trajectories.jsonl.gz" };

/** Appends the conversation of a turn that ended. Returns the problem, as a sentence. */
export async function keepTrajectory(
  folder: string,
  agent: { trajectory(): Promise<HermesTrajectory> },
  completed: boolean,
): Promise<string | undefined> {
  try {
    await saveTrajectory(folder, await agent.trajectory(), { completed, now: Date.now() });
    return undefined;
  } catch (error) {
    return `The trajectory could not be saved: ${messageOf(error)}`;
  }
}

/** Appends a conversation to the file of its kind in `folder`, as a whole member of gzip. Rejects with the system's error. */
export async function saveTrajectory(
  folder: string,
  { conversations, model }: Pick<HermesTrajectory, "conversations" | "model">,
  { completed, now }: { readonly completed: boolean; readonly now: number },
): Promise<void> {
  const path = join(folder, completed ? FILES.completed : FILES.failed);
  const line = pythonJson({ conversations, timestamp: pythonTime(now), model, completed });
  await mkdir(dirname(path), { recursive: true });
  await withLock(`${path}.lock`, async () => {
    const file = await open(path, "a");
    try {
      await file.writeFile(gzipSync(`${line}\n`));
      await file.sync();
    } finally {
      await file.close();
    }
  });
}
