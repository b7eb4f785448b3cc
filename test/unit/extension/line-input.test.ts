import { expect, test } from "vitest";
import { LineInput } from "../../../extension/terminals/child-terminal.ts";

/** Input of the program and output of the screen for typed text. */
function typed(...pieces: readonly string[]) {
  const seen = { echo: "", sent: [] as string[], events: [] as string[] };
  const input = new LineInput({
    echo: (text) => {
      seen.echo += text;
    },
    send: (text) => seen.sent.push(text),
    interrupt: () => seen.events.push("interrupt"),
    end: () => seen.events.push("end"),
  });
  for (const piece of pieces) input.type(piece);
  return seen;
}

test("a line is echoed as it is typed and sent with Enter", () => {
  expect(typed("h", "i", "\r")).toMatchObject({ echo: "hi\r\n", sent: ["hi\n"] });
});

test("pasted lines are sent one by one, the last waits for Enter", () => {
  expect(typed("one\r\ntwo\nthree")).toMatchObject({ echo: "one\r\ntwo\r\nthree", sent: ["one\n", "two\n"] });
});

test("backspace takes back a whole character, and nothing beyond the line's beginning", () => {
  expect(typed("a\u{1f600}\u007f\u007f\u007fb\r")).toMatchObject({ echo: "a\u{1f600}\b \b\b \bb\r\n", sent: ["b\n"] });
});

test("Ctrl+U takes back the line", () => {
  expect(typed("abc\u0015d\r").sent).toEqual(["d\n"]);
});

test("Ctrl+C drops the line and interrupts", () => {
  expect(typed("abc\u0003d\r")).toMatchObject({ echo: "abc^C\r\nd\r\n", sent: ["d\n"], events: ["interrupt"] });
});

test("Ctrl+D ends the input of an empty line, and sends a begun one as it is", () => {
  expect(typed("abc\u0004\u0004")).toMatchObject({ sent: ["abc"], events: ["end"] });
});

test("arrows and other keys that a line cannot use do nothing", () => {
  expect(typed("\u001b[A\u001b[1;5CaOP\u001bOP\u001b\r")).toMatchObject({ sent: ["aOP\n"] });
});
