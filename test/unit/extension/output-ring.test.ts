import { expect, test } from "vitest";
import { OutputRing } from "../../../extension/terminals/output-ring.ts";

function ringOf(limit: number, ...pieces: readonly (string | Buffer)[]): OutputRing {
  const ring = new OutputRing(limit);
  for (const piece of pieces) ring.add(Buffer.from(piece));
  return ring;
}

test("the ring keeps everything up to its limit", () => {
  const ring = ringOf(6, "abc", "def");
  expect(ring.text()).toBe("abcdef");
  expect(ring.truncated).toBe(false);
});

test("the ring keeps the last bytes of more", () => {
  const ring = ringOf(4, "abc", "def");
  expect(ring.text()).toBe("cdef");
  expect(ring.truncated).toBe(true);
});

test("the ring keeps nothing when nothing may be kept", () => {
  const ring = ringOf(0, "abc", "def");
  expect(ring.text()).toBe("");
  expect(ring.truncated).toBe(true);
  expect(ringOf(0).truncated).toBe(false);
});

test("the ring begins at a whole character", () => {
  expect(ringOf(4, "ab€", "€").text()).toBe("€");
});

test("the ring leaves out no more than a torn character of bytes that are no text", () => {
  const ring = ringOf(8, Buffer.alloc(100, 0x80));
  expect(ring.text()).toBe("\ufffd".repeat(5));
});

test("the line that is still open is what was printed after the last line break", () => {
  expect(ringOf(100, "Name? Ada\n", "Password: ").openLine()).toBe("Password: ");
  expect(ringOf(100, "one\ntwo\n").openLine()).toBe("");
  expect(ringOf(100).openLine()).toBe("");
});
