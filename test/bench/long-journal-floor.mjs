// The floor of opening a stored session: reads a journal's lines, parses each, and prints what is shown of it when it is to.
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

const [path, prints] = process.argv.slice(2);
console.log("ready");
process.stdin.once("data", async () => {
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    const entry = JSON.parse(line);
    if (prints === "prints" && (entry.type === "message" || entry.type === "tool")) process.stdout.write(`${line}\n`);
  }
  process.stdout.write(`done ${process.resourceUsage().maxRSS / 1_000}\n`, () => process.exit(0));
});
