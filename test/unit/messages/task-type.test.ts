import { expect, test } from "vitest";
import { classifyTask } from "../../../agent-core/messages/task-type.ts";

test.each([
  ["Analyze this CSV and plot the monthly totals", "data"],
  ["Write a draft email to the team", "writing"],
  ["Summarize this research paper", "research"],
  ["Fix the failing test in src/login.ts", "code"],
  ["Rename the function `load` to `read`", "code"],
  ["Write a function that sorts the list", "code"],
  ["Was ist der Unterschied? Vergleiche beide Quellen", "research"],
  ["Übersetze den Brief ins Englische", "writing"],
  ["Werte die Tabelle aus: Durchschnitt je Spalte", "data"],
  ["Behebe den Fehler in der Anmeldung", "code"],
  ["Good morning", "other"],
])("%j is a task of the type %s", (message, type) => {
  expect(classifyTask(message)).toBe(type);
});
