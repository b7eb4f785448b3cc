import { expect, test } from "vitest";
import { MarkdownStream } from "../../../cli/chat/markdown-stream.ts";
import { themeOf } from "../../../cli/chat/theme.ts";

const theme = themeOf("mono");

test.each([
  ["list", Array.from({ length: 40 }, (_, row) => `- row ${row} of the list`).join("\n")],
  ["code block", `\`\`\`\n${Array.from({ length: 40 }, (_, row) => `  row ${row} of  it`).join("\n")}\n\`\`\``],
])("a long %s loses and repeats nothing, wherever its pieces end", (_kind, text) => {
  if (theme === undefined) throw new Error("no theme");
  const whole = new MarkdownStream(theme);
  whole.append(text);
  const expected = whole.end(80);
  for (let at = 0; at < text.length; at += 1) {
    const stream = new MarkdownStream(theme);
    stream.append(text.slice(0, at));
    const lines = [...stream.settle(80, 12)];
    stream.append(text.slice(at));
    lines.push(...stream.settle(80, 12), ...stream.end(80));
    expect(lines, `divided at ${at}`).toEqual(expected);
  }
});
