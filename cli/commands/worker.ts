/** `hermes worker`. The worker and the queue's libraries load with its first use. */
import { takeEnvironment } from "../../agent-core/host/terminals/command-environment.ts";
import { UsageError } from "../../agent-core/platform/errors.ts";
import { type Option, subcommand } from "../subcommand.ts";

const options = {
  queue: { kind: "text", value: "URL", summary: "redis[s]:// or postgres://; default: the variable HERMES_QUEUE" },
  concurrency: { kind: "number", value: "N", default: 4, summary: "tasks at a time" },
  drain: { kind: "text", value: "TIME", default: "60s", summary: "time of the running tasks after a signal" },
} as const satisfies Record<string, Option>;

export const command = subcommand({
  options,
  examples: [
    ["worker --queue redis://queue.example.org:6379 --concurrency 8", "work on the tasks of a queue"],
    [
      "worker --queue postgres://hermes@db.example.org/tasks",
      "the same on PostgreSQL; HERMES_QUEUE_PASSWORD has its password",
    ],
  ],
  async run({ values: { queue, concurrency, drain } }) {
    const environment = takeEnvironment();
    const url = queue ?? environment["HERMES_QUEUE"];
    if (url === undefined || url === "") throw new UsageError("worker needs --queue, or the variable HERMES_QUEUE");
    const { durationOf, numberOf } = await import("../../batch/option-values.ts");
    const settings = {
      concurrency: numberOf("concurrency", concurrency, { min: 1 }),
      drainMs: durationOf("drain", drain),
    };
    const { runWorker } = await import("../../batch/worker.ts");
    const report = (text: string): void => void process.stderr.write(text);
    return runWorker({ ...settings, url, environment, report });
  },
});
