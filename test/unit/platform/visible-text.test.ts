import { expect, test } from "vitest";
import { visibleText } from "../../../agent-core/platform/visible-text.ts";

test("control, zero-width and bidirectional characters are shown as code points", () => {
  expect(visibleText("rm \u202efdp.txt\u200b\u001b[0m\r")).toBe("rm ⟨U+202E⟩fdp.txt⟨U+200B⟩⟨U+001B⟩[0m⟨U+000D⟩");
  expect(visibleText("a\u2028b\u3164\u{e0041}")).toBe("a⟨U+2028⟩b⟨U+3164⟩⟨U+E0041⟩");
});

test("line feeds, tabs, letters and emoji stay", () => {
  const text = "one\n\ttwo é 日本 שלום 😀️";
  expect(visibleText(text)).toBe(text);
});
