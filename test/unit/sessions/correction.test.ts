import { describe, expect, test } from "vitest";
import { isCorrection } from "../../../agent-core/sessions/correction.ts";

const corrections = [
  "No, the other file",
  "no!",
  "Nope, that breaks the login",
  "Hm, no: the tests belong next to the code",
  "Not like that",
  "not that one, the one in src",
  "Not what I asked for",
  "That's wrong",
  "that is not what I meant",
  "This isn't right",
  "It doesn't work",
  "that didn't help",
  "Still failing with the same error",
  "it still doesn't compile",
  "Wrong file",
  "wrong!",
  "I said blue",
  "I meant the second one",
  "I didn't ask for a new class",
  "I told you to use tabs",
  "undo that please",
  "Revert your last change",
  "You forgot the tests",
  "you should have kept the comments",
  "You broke the build",
  "Don't do that",
  "Sorry, but that is wrong",
  "No, not like that: a note ends with the line `x`.",
  "No, in this project deployments run on `lane 4`.",
  "Nein, die andere Datei",
  "nee, so war das nicht gemeint",
  "Nicht so",
  "nicht diese Datei, die in src",
  "So nicht!",
  "Das ist falsch",
  "Das ist nicht das, was ich wollte",
  "das stimmt nicht",
  "Das funktioniert immer noch nicht",
  "Geht nicht",
  "Ich habe doch gesagt: ohne Semikolon",
  "Ich meinte die zweite Spalte",
  "Mach das bitte rückgängig",
  "Du hast die Tests vergessen",
  "Du hast die Kommentare gelöscht",
  "Immer noch falsch",
  "Wrong target. The deployments go to `zo-4`.",
  "Wrong database name: it is `orders`",
  "Falsches Ziel. Es geht nach `zo-4`.",
] as const;

const others = [
  "No problem, go on",
  "no worries",
  "No, that's fine",
  "No, it's all good. Next: the docs",
  "no, you're right",
  "No thanks",
  "no need to change that",
  "No further changes, commit it",
  "no, go ahead",
  "No tests run on my machine, why?",
  "Not that I know",
  "not bad! Now add tests",
  "Not sure. Which one is faster?",
  "Not yet, first the docs",
  "That's not a problem",
  "That is not all: the docs need it too",
  "Nothing else",
  "Now add a second button",
  "Wrong password attempts should be logged",
  "Stop the server and start it again",
  "Undo support for the editor is next",
  "You can merge it",
  "You did great, now the second part",
  "Still to do: the changelog",
  "Notice that the tests are slow",
  "Does it work on Windows?",
  "Why did you choose a map?",
  "I think we should test it",
  "Great, that works",
  "Kein Problem, weiter",
  "Keine Ahnung, probier es aus",
  "Nein danke",
  "Nein, passt so",
  "Nein, das ist gut so",
  "nein, alles gut. Jetzt die Tests",
  "Nein, du hast recht",
  "Nicht schlecht! Jetzt noch Tests",
  "Nicht dass ich wüsste",
  "Das ist nicht schlimm",
  "Du kannst es jetzt zusammenführen",
  "Nichts weiter",
  "Ich meine, wir sollten es testen",
  "Jetzt noch die Dokumentation",
] as const;

describe("a correction", () => {
  test.each(corrections)("is: %s", (text) => {
    expect(isCorrection(text, false)).toBe(true);
  });

  test.each(others)("is not: %s", (text) => {
    expect(isCorrection(text, false)).toBe(false);
  });

  test.each(["No", "no, only the first", "Nein, lieber nicht"])("is not the answer to a question: %s", (text) => {
    expect(isCorrection(text, true)).toBe(false);
    expect(isCorrection(text, false)).toBe(true);
  });

  test("is also a complaint that follows a question", () => {
    expect(isCorrection("That's wrong", true)).toBe(true);
  });
});
