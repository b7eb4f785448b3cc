import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { codeOf, hasCode, messageOf } from "../../../agent-core/platform/errors.ts";

function caught(action: () => unknown): unknown {
  try {
    return action();
  } catch (error) {
    return error;
  }
}

test("messageOf reads the message of an error, and takes any other value as text", () => {
  expect(messageOf(new Error("no room"))).toBe("no room");
  expect(messageOf("no room")).toBe("no room");
  expect(messageOf(undefined)).toBe("undefined");
});

test("codeOf reads a system error's code", () => {
  const error = caught(() => readFileSync("/no/such/file"));
  expect(codeOf(error)).toBe("ENOENT");
  expect(hasCode(error, "EACCES", "ENOENT")).toBe(true);
  expect(hasCode(error, "EACCES")).toBe(false);
  expect(codeOf(new Error("no room"))).toBeUndefined();
  expect(codeOf({ code: "ENOENT" })).toBeUndefined();
});
