/** `hermes worker`. The worker and the queue's libraries load with its first use. */
import { takeEnvironment } from "../../agent-core/host/terminals/command-environment.ts";
import { UsageError } from "../../agent-core/platform/errors.ts";
import { type Option, subcommand } from "../subcommand.ts";

const options = {
  queue: { kind: "text", value: "URL", summary: "redis[s]:// or postgres://; default: the variable HERMES_QUEUE" },
  concurrency: { kind: "number", value: "N", default: 4, min: 1, summary: "tasks at a time" },
  drain: { kind: "time", value: "TIME", default: "60s", summary: "time of the running tasks after a signal" },
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
  async run({ values: { queue, concurrency, drain: drainMs } }) {
    const environment = takeEnvironment();
    const url = queue ?? environment["HERMES_QUEUE"];
    if (url === undefined || url === "") throw new UsageError("worker needs --queue, or the variable HERMES_QUEUE");
    const { runWorker } = await import("../../batch/worker.ts");
    const report = (text: string): void => void process.stderr.write(text);
    return runWorker({ concurrency, drainMs, url, environment, report });
  },
});
