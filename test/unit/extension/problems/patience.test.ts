import { describe, expect, it } from "vitest";
import { Patience } from "../../../../extension/problems/patience.ts";

describe("patience", () => {
  it("is a second for an unknown language", () => {
    expect(new Patience().of("go")).toBe(1_000);
  });

  it("is twice the slowest answer, within limits", () => {
    const patience = new Patience();
    patience.told("ts", 300);
    patience.told("ts", 700);
    patience.told("ts", 20);
    expect(patience.of("ts")).toBe(1_400);
    patience.told("ts", 9_000);
    expect(patience.of("ts")).toBe(2_500);
    patience.told("json", 10);
    expect(patience.of("json")).toBe(400);
  });

  it("is short where no answer ever came, until one does", () => {
    const patience = new Patience();
    patience.silent("plaintext");
    expect(patience.of("plaintext")).toBe(150);
    patience.told("plaintext", 600);
    expect(patience.of("plaintext")).toBe(1_200);
    patience.silent("plaintext");
    expect(patience.of("plaintext")).toBe(1_200);
  });

  it("does not count what comes long after", () => {
    const patience = new Patience();
    patience.told("ts", 60_000);
    expect(patience.of("ts")).toBe(1_000);
  });
});
