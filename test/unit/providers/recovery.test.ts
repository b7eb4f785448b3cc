import { describe, expect, test } from "vitest";
import { type Attempts, type RefusedRequest, recoveryOf } from "../../../agent-core/providers/call/recovery.ts";
import type { Fault } from "../../../agent-core/providers/fault.ts";

const REQUEST: RefusedRequest = {
  hasNewImages: false,
  longestResult: 9_000,
  hasUnanswered: true,
  hasUnusualForm: false,
  namesSystem: false,
  hasOpaqueParts: true,
  namesTool: false,
  hasNewTools: true,
  isLongest: true,
  isToOwnServer: false,
};

function recovery(fault: Pick<Fault, "kind" | "status">, tries: number, request: Partial<RefusedRequest> = {}) {
  const attempts: Attempts = { tries, waitedMs: 0, silences: 0, used: new Set() };
  const limits = { budgetMs: 300_000, random: 0, request: { ...REQUEST, ...request } };
  return recoveryOf({ message: "no", ...fault }, attempts, limits);
}

describe("an outage of a public service", () => {
  test.each([500, 502, 504, 520])("status %i is waited for, however often, and the request stays whole", (status) => {
    for (const tries of [1, 4, 9]) expect(recovery({ kind: "server", status }, tries).kind).toBe("wait");
  });
});

test("a server of one's own that fails four times is asked without what is new", () => {
  const own = { isToOwnServer: true };
  expect(recovery({ kind: "server", status: 500 }, 3, own).kind).toBe("wait");
  expect(recovery({ kind: "server", status: 500 }, 4, own)).toEqual({ kind: "remedy", remedy: "plain-schemas" });
});

test("too long a body is shortened before the user's words or results go", () => {
  expect(recovery({ kind: "context-overflow", status: 413 }, 0)).toEqual({ kind: "remedy", remedy: "shorten" });
});
