import { expect, test } from "vitest";
import { userMessage } from "../../../agent-core/acp/prompt-content.ts";

const DIFF = [
  "diff --git a/.env b/.env\n@@ -0,0 +1 @@\n+PASSPHRASE hunter2\n",
  "diff --git a/a.ts b/a.ts\n@@ -0,0 +1 @@\n+open();\n",
].join("");

function sent(uri: string): string {
  return JSON.stringify(userMessage([{ type: "resource", resource: { uri, text: DIFF, mimeType: "text/plain" } }]));
}

test("the attached changes hold no lines of files that usually hold keys", () => {
  expect(sent("hermes:changes/Changes")).not.toContain("hunter2");
  expect(sent("hermes:changes/Changes")).toContain("+open();");
});

test("a text that the user chose stays as it is", () => {
  expect(sent("hermes:text/Selection")).toContain("hunter2");
});
