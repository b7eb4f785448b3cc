// Loaded before the agent: collects garbage when it is asked to by SIGUSR2, and prints what is left, in bytes, as a line.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

process.on("SIGUSR2", () => {
  collect();
  process.stderr.write(`heap ${process.memoryUsage().heapUsed}\n`);
});
