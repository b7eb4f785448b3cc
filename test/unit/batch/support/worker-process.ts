/** A worker in a process of its own, with short times. Arguments: address of the queue, tasks at a time, drain in ms. */
Object.assign(globalThis, { __VERSION__: "0.0.0-test" });
const [url = "", concurrency = "2", drain = "60000"] = process.argv.slice(2);
const { runWorker } = await import("../../../../batch/worker.ts");
process.exitCode = await runWorker({
  url,
  concurrency: Number(concurrency),
  drainMs: Number(drain),
  environment: { ...process.env },
  report: (text) => void process.stderr.write(text),
  lockMs: 1_500,
  checkMs: 500,
  backOff: () => 1,
});
