import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { isOfGateway } from "../../../agent-core/approval/secret-paths.ts";
import { isResetDue } from "../../../gateway/chats/chat-session.ts";
import { Pairing } from "../../../gateway/pairing.ts";
import { temporaryFolder } from "../../support/acp-client.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const HOUR = 3_600_000;

function setUp() {
  const folder = temporaryFolder("hermes-pairing-");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const clock = new ManualClock(1_000_000_000);
  return { folder, clock, pairing: new Pairing(folder, clock) };
}

test("A code has eight letters, counts once for an hour, and each person gets one in ten minutes", async () => {
  const { pairing, clock } = setUp();
  const code = pairing.request("telegram", "8", "Eve") ?? "";
  expect(code).toMatch(/^[A-HJ-NP-Z2-9]{8}$/);
  expect(pairing.request("telegram", "8", "Eve")).toBeUndefined();
  await clock.advance(601_000);
  const newer = pairing.request("telegram", "8", "Eve") ?? "";
  expect(() => pairing.approve("telegram", code)).toThrow("no open request");
  expect(() => pairing.approve("discord", newer)).toThrow("no open request");
  expect(pairing.approve("telegram", newer.toLowerCase())).toMatchObject({ user: "8" });
  expect(pairing.isApproved("telegram", "8")).toBe(true);
  expect(() => pairing.approve("telegram", newer)).toThrow("no open request");
  const late = pairing.request("telegram", "9", "") ?? "";
  await clock.advance(HOUR);
  expect(() => pairing.approve("telegram", late)).toThrow("no open request");
});

test("Three requests of a platform are open at a time, and five wrong codes lock pairing for an hour", async () => {
  const { pairing, clock, folder } = setUp();
  const codes = ["1", "2", "3", "4"].map((user) => pairing.request("telegram", user, ""));
  expect(codes.map((code) => code !== undefined)).toEqual([true, true, true, false]);
  for (let at = 0; at < 5; at += 1) expect(() => pairing.approve("telegram", "AAAAAAAA")).toThrow("no open request");
  expect(() => pairing.approve("telegram", codes[0] ?? "")).toThrow("locked for 60 more minutes");
  expect(pairing.request("discord", "1", "")).toBeUndefined();
  await clock.advance(HOUR + 1);
  expect(pairing.request("discord", "1", "")).toBeDefined();
  expect(statSync(join(folder, "pairing.json")).mode & 0o777).toBe(0o600);
});

test("A change in a terminal counts at once, and a damaged file lets nobody in", () => {
  const { pairing, clock, folder } = setUp();
  const terminal = new Pairing(folder, clock);
  const code = pairing.request("slack", "8", "x") ?? "";
  expect(terminal.list().open).toMatchObject([{ user: "8" }]);
  terminal.approve("slack", code);
  expect(pairing.isApproved("slack", "8")).toBe(true);
  expect(terminal.revoke("slack", "8")).toBe(true);
  expect(pairing.isApproved("slack", "8")).toBe(false);
  expect(terminal.clearPending()).toBe(0);
  writeFileSync(join(folder, "pairing.json"), "{");
  expect(() => pairing.isApproved("slack", "8")).toThrow("Nobody is paired until it is repaired");
});

test("The gateway's folder is known to the policy under each of its paths", () => {
  const resolvePath = (path: string): string => path.replace("/link", "/home/me/.hermes");
  const scope = { cwd: "/w", roots: ["/w"], home: "/home/me", hermesHome: "/home/me/.hermes", resolvePath };
  const paths = ["/home/me/.hermes/gateway/pairing.json", "/link/gateway", "/home/me/.hermes/gateway2", "/w/gateway/x"];
  expect(paths.map((path) => isOfGateway(path, scope))).toEqual([true, true, false, false]);
});

test("A session ends by itself only as session_reset says", () => {
  const at = (text: string): number => new Date(text).getTime();
  const settings = { idleMinutes: 60, atHour: 4 };
  const [evening, night, morning] = [at("2026-11-27T23:00"), at("2026-11-28T03:30"), at("2026-11-28T09:00")];
  expect(isResetDue({ ...settings, mode: "none" }, evening, morning)).toBe(false);
  expect(isResetDue({ ...settings, mode: "idle" }, evening, night)).toBe(true);
  expect(isResetDue({ ...settings, mode: "idle" }, night, night + 60_000)).toBe(false);
  expect(isResetDue({ ...settings, mode: "daily" }, evening, night)).toBe(false);
  expect(isResetDue({ ...settings, mode: "daily" }, night, morning)).toBe(true);
  expect(isResetDue({ ...settings, mode: "both" }, evening, night)).toBe(true);
});
