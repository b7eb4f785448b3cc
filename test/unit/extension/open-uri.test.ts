import { expect, test } from "vitest";
import { commandOfUri, openUris } from "../../../extension/commands/open-uri.ts";

const opened = (link: string) => {
  const { pathname: path, search } = new URL(link);
  return commandOfUri({ path, query: search.slice(1) });
};
const link = (rest: string) => opened(`vscode://hermes-agent.hermes-vscode${rest}`);

test("a link to Hermes opens a page, or puts a prompt into the composer without sending it", () => {
  expect(link("/ask?prompt=explain%20the%20parser")).toEqual({ kind: "compose", text: "explain the parser" });
  expect(link("/new")).toEqual({ kind: "new-session" });
  expect(link("/session?id=2026-11-23_ab.c")).toEqual({ kind: "open-session", sessionId: "2026-11-23_ab.c" });
  expect(link("/sessions")).toEqual({ kind: "show-sessions" });
  expect(link("/setup")).toEqual({ kind: "show-setup" });
});

test("a link cannot hide characters in a prompt", () => {
  expect(link("/ask?prompt=a%E2%80%AEb%1B%5B2J")).toEqual({ kind: "compose", text: "a⟨U+202E⟩b⟨U+001B⟩[2J" });
});

test("any other link is refused with its reason", async () => {
  expect(link("/ask")).toBe("it has no prompt");
  expect(link(`/ask?prompt=${"a".repeat(4_001)}`)).toBe("its prompt has more than 4000 characters");
  expect(link("/session?id=../../etc")).toBe("it has no valid session id");
  expect(link("/run?command=rm")).toBe('"/run" is not a page of Hermes');
  const warnings: string[] = [];
  const { handleUri } = openUris(
    () => expect.unreachable(),
    (text) => warnings.push(text),
  );
  await handleUri({ path: "/x", query: "" } as never);
  expect(warnings).toEqual(['Hermes cannot open this link: "/x" is not a page of Hermes.']);
});
