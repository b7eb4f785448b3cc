// Floor of an ACP agent over stdio: answers `initialize`, and is ready to fetch.
import { createInterface } from "node:readline";

await fetch("data:,"); // loads what a request needs
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result: { protocolVersion: 1 } })}\n`);
});
