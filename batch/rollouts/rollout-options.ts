/** Options of `hermes rollouts`. */
import type { Option } from "../../cli/subcommand.ts";

export const rolloutOptions = {
  env: { kind: "text", value: "FILE", summary: "ES module of the environment" },
  "group-size": { kind: "number", value: "N", default: 8, min: 1, summary: "conversations of each item" },
  count: { kind: "number", value: "N", min: 1, summary: "items to take; default: all" },
  "keep-equal": { kind: "flag", summary: "keep groups whose rewards are equal" },
  split: { kind: "text", value: "NAME", default: "train", summary: "part of the data, for the environment's setup" },
  output: {
    kind: "text",
    value: "FILE",
    default: "data/rollouts.jsonl",
    summary: "file of the kept rollouts",
    verbs: ["run"],
  },
  atropos: {
    kind: "text",
    value: "URL",
    default: "http://127.0.0.1:8000",
    summary: "Atropos API of the trainer",
    verbs: ["serve"],
  },
  "max-token-length": {
    kind: "number",
    value: "N",
    default: 8_192,
    min: 1,
    summary: "longest conversation",
    verbs: ["serve"],
  },
  model: { kind: "text", value: "NAME", summary: "model; default: the configured one" },
  toolsets: { kind: "text", value: "LIST", default: "terminal,file", summary: "toolsets of the agent, with commas" },
  "max-turns": { kind: "number", value: "N", default: 30, min: 1, summary: "model calls of a conversation" },
  "task-timeout": { kind: "time", value: "TIME", default: "30m", summary: "longest time of a conversation" },
  "workdir-template": { kind: "text", value: "FROM", summary: "content of each workspace: DIR or git:REPO@REF" },
  "token-ids": { kind: "flag", summary: "ask the model server for token ids and log probabilities" },
  verbose: { kind: "flag", summary: "show more" },
} as const satisfies Record<string, Option>;
