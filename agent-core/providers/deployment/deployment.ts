/** A place where models are reached: address, keys and what is special there. One file each, data only. */
import type { ApiMode } from "../wire/wire.ts";

/** What an endpoint of chat completions wants otherwise than most. */
export type ChatQuirks = {
  /** Default `max_tokens`. */
  readonly maxTokensField?: "max_completion_tokens";
  /** Answers 400 to message fields that are not OpenAI's own. */
  readonly refusesUnknownFields?: boolean;
};

export type Deployment = {
  /** As in settings and messages to people. */
  readonly name: string;
  /** As its makers write it, for lists to choose from. */
  readonly title: string;
  readonly mode: ApiMode;
  /** Undefined when the user must give it. */
  readonly baseUrl?: string;
  /** Environment variable that may give another address. */
  readonly urlVariable?: string;
  /** Hosts, with the port where it matters, that mean this deployment. */
  readonly hosts: readonly string[];
  /** Environment variable of its key; undefined when it needs none. */
  readonly keyVariable?: string;
  /** Where its users get one. */
  readonly keyPage?: string;
  /** Path under the base URL that only answers to a good key; default: that of the list of models. */
  readonly keyCheckPath?: string;
  /** Used when no model is named. */
  readonly defaultModel?: string;
  /** Models worth offering, the best first: until the endpoint has told which it has, and at the head of a long list. */
  readonly knownModels?: readonly string[];
  readonly quirks?: ChatQuirks;
};
