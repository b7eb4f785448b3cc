// A process that counts up in a file: node counter.ts <file> <times>.
import { readFileSync, writeFileSync } from "node:fs";
import { withLockSync } from "../../../../../agent-core/platform/locks/file-lock.ts";

const [file = "", times] = process.argv.slice(2);
for (let at = 0; at < Number(times); at += 1) {
  withLockSync(`${file}.lock`, () => writeFileSync(file, String(Number(readFileSync(file, "utf8")) + 1)));
}
