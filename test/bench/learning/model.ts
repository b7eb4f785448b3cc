/** HTTP server of the simulated model, with counts of what it was asked. */
import type { Answer, Part } from "../../support/model-server/answer.ts";
import { call, fail, type ModelServer, say, startModelServer } from "../../support/model-server/model-server.ts";
import { act, type Use } from "./apprentice.ts";
import { answerAuxiliary, auxiliaryRequest } from "./auxiliary.ts";
import type { Noise } from "./chance.ts";
import { viewOf, type WireMessage } from "./reader.ts";

/** Window that the model declares. Tokens. */
export const WINDOW = 24_000;
/** True share of the declared window for long pages. */
const TRUE_WINDOW = 0.8;
const CHARS_PER_TOKEN = 4;

export type ModelCounts = {
  requests: number;
  /** Estimated. */
  tokens: number;
  auxiliaryTokens: number;
  overflows: number;
  /** System prompts of conversations since the last reset. */
  readonly prompts: Set<string>;
  /** Uses of needs since the last reset. */
  uses: Use[];
  /** Text for which requests are searched, and the number of requests that had it since the last reset. */
  readonly watched: { text: string; requests: number };
  /** Auxiliary requests that it did not understand, by the first words of their system prompt. */
  readonly unknown: Set<string>;
};

export type SimulatedModel = {
  readonly server: ModelServer;
  readonly counts: ModelCounts;
  /** Ignores everything but the last message. */
  forgets: boolean;
  /** Called at each question of a loop. */
  onQuestion: () => void;
  stop(): Promise<void>;
};

type Body = ModelServer["requests"][number]["body"];

export async function startSimulatedModel(noise: Noise): Promise<SimulatedModel> {
  const server = await startModelServer();
  server.lookUps.set("/models", { data: [{ id: "apprentice", context_length: WINDOW }] });
  const counts: ModelCounts = {
    requests: 0,
    tokens: 0,
    auxiliaryTokens: 0,
    overflows: 0,
    uses: [],
    prompts: new Set(),
    unknown: new Set(),
    watched: { text: "", requests: 0 },
  };
  const model: SimulatedModel = {
    server,
    counts,
    forgets: false,
    onQuestion: () => undefined,
    stop: () => server.stop(),
  };
  server.respondWith((body) => answer(body, model, noise));
  return model;
}

function answer(body: Body, model: SimulatedModel, noise: Noise): Answer {
  const { counts, forgets, server } = model;
  const messages = body.messages as readonly WireMessage[];
  const request = JSON.stringify([messages, body["tools"] ?? []]);
  const input = Math.ceil(request.length / CHARS_PER_TOKEN);
  counts.requests += 1;
  server.forget();
  const auxiliary = auxiliaryRequest(messages);
  if (auxiliary !== undefined) {
    counts.auxiliaryTokens += input;
    model.onQuestion();
    const text = answerAuxiliary(auxiliary, noise);
    if (text === "nothing") counts.unknown.add(auxiliary.system.slice(0, 80));
    return withUsage(say(text), input, text.length);
  }
  const isLong = messages.some(({ content }) => typeof content === "string" && / registers http/.test(content));
  if (isLong && input > WINDOW * TRUE_WINDOW) {
    counts.overflows += 1;
    const words = `This model's maximum context length is ${WINDOW * TRUE_WINDOW} tokens, and the request has ${input}.`;
    return fail(400, words, { code: "context_length_exceeded" });
  }
  counts.tokens += input;
  if (counts.watched.text !== "" && request.includes(counts.watched.text)) counts.watched.requests += 1;
  const tools = (body["tools"] as readonly { readonly function: { readonly name: string } }[] | undefined) ?? [];
  const view = viewOf(
    messages,
    tools.map(({ function: { name } }) => name),
    { forgets },
  );
  counts.prompts.add(view.system);
  const action = act(view, ({ value, region }) => counts.uses.push({ value, region }));
  if (action.kind === "say") return withUsage(say(action.text), input, action.text.length);
  const words: readonly Part[] = action.text === undefined ? [] : [{ type: "text", text: action.text }];
  return withUsage({ parts: [...words, call(action.name, action.input)] }, input, JSON.stringify(action.input).length);
}

function withUsage(given: Answer, input: number, chars: number): Answer {
  return "parts" in given ? { ...given, usage: { input, output: Math.ceil(chars / CHARS_PER_TOKEN) } } : given;
}
