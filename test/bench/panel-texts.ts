/** Answers of 300 kB and more: the longest task of the page while it shows one. */
import { FedPanel } from "./fed-panel.ts";
import type { Row } from "./measuring.ts";

const CHARS = 300_000;
/** Of a fast model in one frame. */
const PARTS = /[\s\S]{1,5000}/g;
const SENTENCE =
  "The quick **brown** fox `jumps` over the [lazy](https://example.com/a) dog and *runs* to `src/a.ts:12`. ";

function filled(line: string, chars = CHARS): string {
  return line.repeat(Math.ceil(chars / line.length));
}

const texts: Readonly<Record<string, string>> = {
  "300 kB of emphasis": filled("a**"),
  "300 kB of emphasis in lines": filled(`${"a**".repeat(100)}\n`),
  "300 kB of brackets": filled("[a]("),
  "300 kB of prose in one line": filled(SENTENCE),
  "300 kB of prose in lines": filled(`${SENTENCE}\n`),
  "300 kB of prose in paragraphs": filled(`${SENTENCE.repeat(4)}\n\n`),
  "300 kB of prose in quotes": filled(`> ${SENTENCE}\n`),
  "300 kB of Chinese in one line": filled("敏捷的**棕色**狐狸`跳过`了懒狗，"),
  "300 kB of addresses": filled("https://example.com/a/b?c=d "),
  "300 kB of formulas": filled("$$\\sum_{i=0}^n x_i$$\n\n"),
  "300 kB of short paragraphs": filled("a\n\n"),
  "a list of 5,000 items": `- ${SENTENCE}\n`.repeat(5_000),
  "300 kB of one word": filled("a"),
  "300 kB of nested quotes": filled(`${">".repeat(50)} a\n`),
  "300 kB of code blocks": filled(`\`\`\`ts\n${"const a = [1, 'b'];\n".repeat(400)}\`\`\`\n\n`),
  "a table of 20,000 rows": `| a | b |\n|---|---|\n${"| 1 | 2 |\n".repeat(20_000)}`,
  "300 kB of a table of 100 columns": filled(`${"| 1 ".repeat(100)}|\n`).replace("\n", `\n${"|---".repeat(100)}|\n`),
  "2 MB of code": `\`\`\`ts\n${filled("const a = 1;\n", 2_000_000)}\`\`\``,
};

/** An answer arrives as one text, or in parts while the page draws. */
export async function measurePanelTexts(): Promise<readonly Row[]> {
  const panel = await FedPanel.open();
  const rows: Row[] = [];
  try {
    for (const [name, text] of Object.entries(texts)) {
      const whole = await longestTask(panel, [text]);
      const parts = await longestTask(panel, text.match(PARTS) ?? []);
      rows.push({ what: `panel: ${name}, longest task`, ours: whole, target: 50, unit: "ms" });
      rows.push({ what: `panel: ${name} in parts, longest task`, ours: parts, target: 50, unit: "ms" });
    }
  } finally {
    await panel.close();
  }
  return rows;
}

async function longestTask(panel: FedPanel, parts: readonly string[]): Promise<number> {
  panel.leave();
  panel.log.clear();
  await panel.load();
  panel.log.push({ kind: "prompt", id: "bench", text: "Say much." });
  await panel.call("nextFrame");
  const tasks = await panel.tasks(async () => {
    for (const text of [...parts, "\n\nAnswer 1: end"]) {
      const content = { type: "text", text } as const;
      panel.log.push({ kind: "update", update: { sessionUpdate: "agent_message_chunk", messageId: "b", content } });
      await panel.call("nextFrame");
    }
    panel.log.push({ kind: "turn-end", stopReason: "end_turn" });
    await panel.call("endShown", "Answer 1");
  });
  return Math.max(...tasks);
}
