import { describe, expect, it } from "vitest";
import { DiagnosticTimeouts } from "../../../../extension/problems/edit-problems.ts";

describe("diagnostic timeouts", () => {
  it("is a second for an unknown language", () => {
    expect(new DiagnosticTimeouts().get("go")).toBe(1_000);
  });

  it("is twice the slowest answer, within limits", () => {
    const timeouts = new DiagnosticTimeouts();
    timeouts.recordAnswer("ts", 300);
    timeouts.recordAnswer("ts", 700);
    timeouts.recordAnswer("ts", 20);
    expect(timeouts.get("ts")).toBe(1_400);
    timeouts.recordAnswer("ts", 9_000);
    expect(timeouts.get("ts")).toBe(2_500);
    timeouts.recordAnswer("json", 10);
    expect(timeouts.get("json")).toBe(400);
  });

  it("is short where no answer ever came, until one does", () => {
    const timeouts = new DiagnosticTimeouts();
    timeouts.recordSilence("plaintext");
    expect(timeouts.get("plaintext")).toBe(150);
    timeouts.recordAnswer("plaintext", 600);
    expect(timeouts.get("plaintext")).toBe(1_200);
    timeouts.recordSilence("plaintext");
    expect(timeouts.get("plaintext")).toBe(1_200);
  });

  it("does not count what comes long after", () => {
    const timeouts = new DiagnosticTimeouts();
    timeouts.recordAnswer("ts", 60_000);
    expect(timeouts.get("ts")).toBe(1_000);
  });
});
