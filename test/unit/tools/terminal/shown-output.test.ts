import { expect, test } from "vitest";
import { shownOutput } from "../../../../agent-core/tools/terminal/output-text.ts";

const output = (head: string, tail: string, omittedBytes: number, file?: string) => ({
  head,
  tail,
  omittedBytes,
  totalBytes: Buffer.byteLength(head + tail) + omittedBytes,
  file,
});

test("a short output is given whole, without its colours", () => {
  expect(shownOutput(output("\u001b[32mgreen\u001b[0m\n", "", 0))).toBe("green");
  expect(shownOutput(output("", "", 0))).toBe("");
});

test("a long output: whole lines of both ends, how much is missing, and where it is", () => {
  const shown = shownOutput(output("first\nsec", "ond last\nlast\n", 100, "/spill/out.log"));
  expect(shown).toMatch(/^first\n\n\[… 112 bytes omitted; the whole output is in \/spill\/out\.log .*…\]\n\nlast$/);
});

test("a line longer than what is kept shows its two ends", () => {
  expect(shownOutput(output("aaa", "zzz", 1_000))).toBe("aaa\n\n[… 1000 bytes omitted …]\n\nzzz");
});
