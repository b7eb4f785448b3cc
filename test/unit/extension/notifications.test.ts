import { expect, test } from "vitest";
import { commandOfUri } from "../../../extension/commands/open-uri.ts";
import { linklessText } from "../../../extension/notifications.ts";

/** VS Code's own expression for links in notifications. */
const LINK = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/i;

test.each([
  "[Show what it deletes](command:workbench.action.terminal.new)",
  "[a](command:x) and [b](https://evil.example)",
  "[ ](file:///etc/passwd)",
  "[[x](command:y)](command:z)",
  '[x](command:y "title")',
])("a notification has no link: %s", (text) => {
  expect(text).toMatch(LINK);
  expect(linklessText(text)).not.toMatch(LINK);
});

test("a notification keeps other text, and shows invisible characters", () => {
  expect(linklessText("src/[id]/page.tsx (new) is not attached.")).toBe("src/[id]/page.tsx (new) is not attached.");
  expect(linklessText("a\u202eb")).toBe("a⟨U+202E⟩b");
});

test("a link that a web page opens can put a link into its warning, which the notification takes apart", () => {
  const path = "/[Repair Hermes](command:workbench.extensions.installExtension?%22a.b%22)";
  const warning = commandOfUri({ path, query: "" });
  expect(warning).toMatch(LINK);
  expect(linklessText(String(warning))).not.toMatch(LINK);
});
