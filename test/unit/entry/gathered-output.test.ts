import { Writable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { gatheredOutput } from "../../../agent-core/entry/gathered-output.ts";

/** Keeps what was written, a piece a write. */
function recorder(): { readonly output: Writable; readonly writes: string[] } {
  const writes: string[] = [];
  const output = new Writable({
    write(chunk, _encoding, done) {
      writes.push(String(chunk));
      done();
    },
  });
  return { output, writes };
}

test("writes what was said in one moment at once, messages and lines in their order", async () => {
  const { output, writes } = recorder();
  const { messages, lines } = gatheredOutput(output);
  const [message, line] = [messages.getWriter(), lines.getWriter()];
  await message.write({ jsonrpc: "2.0", method: "one", params: { text: "é\n" } });
  await line.write(Buffer.from('{"line":"ü"}\n'));
  await message.write({ jsonrpc: "2.0", method: "two" });
  await nextTurn();
  expect(writes).toEqual([
    '{"jsonrpc":"2.0","method":"one","params":{"text":"é\\n"}}\n{"line":"ü"}\n{"jsonrpc":"2.0","method":"two"}\n',
  ]);
  await message.write({ jsonrpc: "2.0", method: "three" });
  await nextTurn();
  expect(writes).toHaveLength(2);
});

test("fails once its output has failed", async () => {
  const output = new Writable({ write: (_chunk, _encoding, done) => done(new Error("gone")) });
  const writer = gatheredOutput(output).messages.getWriter();
  writer.closed.catch(() => undefined);
  await writer.write({ jsonrpc: "2.0", method: "one" });
  await new Promise((resolve) => output.once("close", resolve));
  await expect(writer.write({ jsonrpc: "2.0", method: "two" })).rejects.toThrow("gone");
});
