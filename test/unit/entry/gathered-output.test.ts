import { Writable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { gatheredOutput } from "../../../agent-core/entry/message-lines.ts";

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

test("the output writes what was said in one moment at once, messages of both kinds in their order", async () => {
  const { output, writes } = recorder();
  const { messages, send } = gatheredOutput(output);
  const message = messages.getWriter();
  await message.write({ jsonrpc: "2.0", method: "one", params: { text: "é\n" } });
  await send({ jsonrpc: "2.0", method: "ü" });
  await message.write({ jsonrpc: "2.0", method: "two" });
  await nextTurn();
  expect(writes).toEqual([
    '{"jsonrpc":"2.0","method":"one","params":{"text":"é\\n"}}\n{"jsonrpc":"2.0","method":"ü"}\n{"jsonrpc":"2.0","method":"two"}\n',
  ]);
  await message.write({ jsonrpc: "2.0", method: "three" });
  await nextTurn();
  expect(writes).toHaveLength(2);
});

test("the output fails once its output has failed", async () => {
  const output = new Writable({ write: (_chunk, _encoding, done) => done(new Error("gone")) });
  const writer = gatheredOutput(output).messages.getWriter();
  writer.closed.catch(() => undefined);
  await writer.write({ jsonrpc: "2.0", method: "one" });
  await new Promise((resolve) => output.once("close", resolve));
  await expect(writer.write({ jsonrpc: "2.0", method: "two" })).rejects.toThrow("gone");
});
