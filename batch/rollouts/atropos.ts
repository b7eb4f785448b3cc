/** Client of the Atropos API: gives groups of scored conversations to a trainer. */
import { request } from "node:http";
import { request as secureRequest } from "node:https";
import * as z from "zod";
import { messageOf } from "../../agent-core/platform/errors.ts";
import { parseJson } from "../../agent-core/platform/json.ts";
import type { TokenSequence } from "./token-sequence.ts";

const registered = z.object({
  status: z.string(),
  env_id: z.number().int().optional(),
  starting_step: z.number().optional(),
  num_steps: z.number().nullish(),
});
const envStatus = z.looseObject({ current_step: z.number(), queue_size: z.number() });

export type Registration = { readonly envId: number; readonly steps: number | undefined };

export type ScoredGroup = {
  readonly sequences: readonly TokenSequence[];
  readonly scores: readonly number[];
  readonly messages: readonly (readonly { readonly role: string; readonly content: string }[])[];
};

export class Atropos {
  readonly #url: string;

  /** `url`: of the API, such as `http://127.0.0.1:8000`. */
  constructor(url: string) {
    this.#url = url.replace(/\/+$/, "");
  }

  /** Undefined while the trainer has not begun. Rejects with an Error in one line. */
  async register(name: string, groupSize: number, maxTokens: number): Promise<Registration | undefined> {
    const body = { max_token_length: maxTokens, desired_name: name, weight: 1, group_size: groupSize };
    const answer = registered.parse(await this.#send("POST", "/register-env", body));
    if (answer.env_id === undefined) return undefined;
    return { envId: answer.env_id, steps: answer.num_steps ?? undefined };
  }

  async status(envId: number): Promise<{ readonly step: number; readonly queued: number }> {
    // This GET has a body, which fetch refuses to send.
    const answer = envStatus.parse(await this.#send("GET", "/status-env", { env_id: envId }));
    return { step: answer.current_step, queued: answer.queue_size };
  }

  async send(envId: number, { sequences, scores, messages }: ScoredGroup): Promise<void> {
    const logprobs = sequences.map((sequence) => sequence.logprobs);
    await this.#send("POST", "/scored_data", {
      tokens: sequences.map(({ tokens }) => tokens),
      masks: sequences.map(({ masks }) => masks),
      scores,
      messages,
      ...(logprobs.every((list) => list !== undefined) && { inference_logprobs: logprobs }),
      env_id: envId,
    });
  }

  async leave(envId: number): Promise<void> {
    await this.#send("POST", "/disconnect-env", { env_id: envId });
  }

  async #send(method: string, path: string, body: object): Promise<unknown> {
    const url = new URL(this.#url + path);
    const json = JSON.stringify(body);
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(json) };
    const open = url.protocol === "https:" ? secureRequest : request;
    const answered = new Promise<{ readonly code: number; readonly text: string }>((resolve, reject) => {
      const sent = open(url, { method, headers }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (piece: string) => {
          text += piece;
        });
        response.on("end", () => resolve({ code: response.statusCode ?? 0, text })).on("error", reject);
      });
      sent.on("error", reject).end(json);
    });
    const { code, text } = await answered.catch((error: unknown) => {
      throw new Error(`${this.#url} is out of reach: ${messageOf(error)}`);
    });
    if (code < 200 || code >= 300)
      throw new Error(`${method} ${path} was answered with ${code}: ${text.slice(0, 200)}`);
    return parseJson(text);
  }
}
