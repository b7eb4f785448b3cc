/** Options of `hermes batch`: those of the original's batch runner, and ours. */
import { defined } from "../agent-core/platform/defined.ts";
import { messageOf, UsageError } from "../agent-core/platform/errors.ts";
import { parseJson } from "../agent-core/platform/json.ts";
import { readText } from "../agent-core/platform/text-file.ts";
import type { Option, Values } from "../cli/subcommand.ts";
import { distributionNames } from "./distributions.ts";
import { PROGRESS_MODES } from "./progress.ts";
import type { RunSettings } from "./task.ts";

/** Model of the original when neither a flag nor the configuration names one. */
const DEFAULT_MODEL = "anthropic/claude-sonnet-4.6";
const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra"];
const SORTS = ["price", "throughput", "latency"];
const FORMATS = ["sharegpt", "atif", "both"] as const;

const verbs = ["run"];
const text = (summary: string, value: string) => ({ kind: "text", value, summary, verbs }) as const;
const number = (summary: string, min = 0) => ({ kind: "number", value: "N", min, summary, verbs }) as const;
const flag = (summary: string) => ({ kind: "flag", summary, verbs }) as const;

export const batchOptions = {
  "dataset-file": text('data set: JSONL, one object with "prompt" a line', "FILE"),
  "batch-size": number("tasks of a batch file", 1),
  "run-name": text("name of the run and of its folder", "NAME"),
  distribution: {
    ...text("distribution that toolsets are drawn from", "NAME"),
    default: "default",
    choices: distributionNames,
  },
  model: { kind: "text", value: "NAME", summary: `model; default: the configured one, else ${DEFAULT_MODEL}` },
  "api-key": text("key of the model; the variable HERMES_API_KEY is safer, as others see a command line", "KEY"),
  "base-url": text("address of the model; default: the configured one", "URL"),
  "max-turns": { ...number("model calls of a task", 1), default: 10 },
  "num-workers": { ...number("tasks at a time", 1), default: 4 },
  resume: flag("continue a run: tasks with a result are left out"),
  verbose: flag("show each task"),
  "list-distributions": flag("list the distributions of toolsets"),
  "ephemeral-system-prompt": text("system prompt that is used and not stored", "TEXT"),
  "log-prefix-chars": { ...number("characters of a task in the log"), default: 100 },
  "providers-allowed": text("providers that OpenRouter may use, with commas", "LIST"),
  "providers-ignored": text("providers that OpenRouter may not use", "LIST"),
  "providers-order": text("providers that OpenRouter tries first", "LIST"),
  "provider-sort": { ...text("order of OpenRouter", "BY"), choices: SORTS },
  "max-tokens": number("tokens of an answer", 1),
  "reasoning-effort": { ...text("reasoning of the model", "EFFORT"), choices: EFFORTS },
  "reasoning-disabled": flag("turn reasoning off"),
  "prefill-messages-file": text("JSON list of messages before each conversation", "FILE"),
  "max-samples": number("tasks to take from the data set", 1),
  queue: text("queue for workers, redis[s]:// or postgres://; see hermes worker", "URL"),
  "workdir-template": text("content of each task's folder: DIR or git:REPO@REF", "FROM"),
  "task-timeout": { ...text("longest time of a task", "TIME"), kind: "time", default: "30m" },
  retries: { ...number("further tries of a task that failed"), default: 3 },
  "max-cost": { ...number("no task begins after the run has cost this much"), value: "USD", isFraction: true },
  samples: { ...number("conversations of each task", 1), default: 1 },
  format: { ...text("form of the trajectories", "FORM"), default: "sharegpt", choices: FORMATS },
  "keep-without-reasoning": flag("also keep conversations without thoughts"),
  "token-ids": flag("ask the model server for token ids and log probabilities"),
  out: { kind: "text", value: "DIR", default: "data", summary: "folder of the runs" },
  seed: { ...number("start of the draws of toolsets"), default: 0 },
  progress: { ...text("way to show progress", "MODE"), default: "auto", choices: PROGRESS_MODES },
  input: { kind: "text", value: "PATH", summary: "file or folder of trajectories", verbs: ["compress"] },
  output: { kind: "text", value: "PATH", summary: "default: beside the input, with _compressed", verbs: ["compress"] },
  "sample-percent": {
    ...number("share of the trajectories to take"),
    default: 100,
    isFraction: true,
    verbs: ["compress"],
  },
  "target-max-tokens": { ...number("tokens of a trajectory", 1), default: 15_250, verbs: ["compress"] },
  json: { kind: "flag", summary: "print JSON for programs", verbs: ["status"] },
  "dry-run": flag("check the data set and show the tasks without running them"),
} as const satisfies Record<string, Option>;

export type BatchValues = Values<typeof batchOptions>;

/** The command line of a run, with the options that every run needs. */
export type BatchLine = BatchValues & {
  readonly dataSet: string;
  readonly batchSize: number;
  readonly name: string;
  readonly settings: RunSettings;
};

/** `configured`: model of the configuration. Rejects with a UsageError in one line. */
export async function readBatchLine(values: BatchValues, configured: string | undefined): Promise<BatchLine> {
  const name = required(values, "run-name");
  if (!/^[\w.-]+$/.test(name) || name.startsWith(".")) {
    throw new UsageError(
      `--run_name ${JSON.stringify(name)} is no name of a folder. Use letters, digits, "-", "_" and ".".`,
    );
  }
  const { "batch-size": batchSize } = values;
  if (batchSize === undefined) throw new UsageError("--batch_size is missing. See hermes batch --help.");
  const dataSet = required(values, "dataset-file");
  return { ...values, name, dataSet, batchSize, settings: await readSettings(values, configured) };
}

async function readSettings(values: BatchValues, configured: string | undefined): Promise<RunSettings> {
  const reasoning = values["reasoning-disabled"] ? "none" : values["reasoning-effort"];
  const { "base-url": baseUrl, "ephemeral-system-prompt": systemMessage, "workdir-template": template } = values;
  const prefillFile: string | undefined = values["prefill-messages-file"];
  const prefill = prefillFile === undefined ? undefined : await readPrefill(prefillFile);
  return {
    model: values.model ?? configured ?? DEFAULT_MODEL,
    distribution: values.distribution,
    maxTurns: values["max-turns"],
    timeoutMs: values["task-timeout"],
    retries: values.retries,
    atif: values.format !== "sharegpt",
    ...(values["token-ids"] && { tokens: true }),
    ...defined({
      baseUrl,
      maxTokens: values["max-tokens"],
      systemMessage,
      template,
      reasoning,
      prefill,
      routing: routingOf(values),
    }),
  };
}

function required(values: BatchValues, name: "run-name" | "dataset-file"): string {
  const value = values[name];
  if (value !== undefined && value !== "") return value;
  throw new UsageError(`--${name.replaceAll("-", "_")} is missing. See hermes batch --help.`);
}

function routingOf(values: BatchValues): RunSettings["routing"] {
  const lists = [
    ["only", values["providers-allowed"]],
    ["ignore", values["providers-ignored"]],
    ["order", values["providers-order"]],
  ] as const;
  const named = lists.map(([field, list = ""]) => {
    return [field, list.split(",").flatMap((item) => (item.trim() === "" ? [] : [item.trim()]))] as const;
  });
  const sort = values["provider-sort"];
  const routing = {
    ...Object.fromEntries(named.filter(([, list]) => list.length > 0)),
    ...(sort !== undefined && { sort }),
  };
  return Object.keys(routing).length > 0 ? routing : undefined;
}

async function readPrefill(path: string): Promise<unknown[]> {
  const content = await readText(path).catch((error: unknown) => {
    throw new UsageError(`--prefill_messages_file ${path}: ${messageOf(error)}.`);
  });
  const messages = parseJson(content);
  if (Array.isArray(messages)) return messages;
  throw new UsageError(`--prefill_messages_file ${path} is no JSON list of messages.`);
}
