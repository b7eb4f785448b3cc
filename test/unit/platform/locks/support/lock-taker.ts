// A process that takes and releases a lock for each line of its input: "take <path>" or "give".
import { createInterface } from "node:readline";
import { acquireLock, type FileLock } from "../../../../../agent-core/platform/locks/file-lock.ts";

let lock: FileLock | undefined;
for await (const line of createInterface({ input: process.stdin })) {
  if (line.startsWith("take ")) {
    const taken = acquireLock(line.slice("take ".length));
    lock = "pid" in taken ? undefined : taken;
    process.stdout.write("pid" in taken ? `held by ${taken.pid}\n` : "taken\n");
  } else {
    lock?.release();
    process.stdout.write("given\n");
  }
}
