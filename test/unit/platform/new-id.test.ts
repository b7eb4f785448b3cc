import { expect, test } from "vitest";
import { newId } from "../../../agent-core/platform/new-id.ts";

test("newId makes UUIDs of version 4, each a different one", () => {
  const ids = Array.from({ length: 1_000 }, newId);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(new Set(ids).size).toBe(ids.length);
});
