import { expect, test } from "vitest";
import { isLoopback, pageAddress, siteOf } from "../../../agent-core/browser/page-address.ts";

test.each([
  ["https://example.com/a?b", "https://example.com/a?b"],
  ["example.com/docs", "https://example.com/docs"],
  ["localhost:3000/app", "http://localhost:3000/app"],
  ["127.0.0.1:8080", "http://127.0.0.1:8080/"],
  ["[::1]:5173", "http://[::1]:5173/"],
  ["example.com:8443", "https://example.com:8443/"],
])("the address %s opens %s", (written, opened) => {
  expect(pageAddress(written)).toMatchObject({ ok: true, url: new URL(opened) });
});

test.each([
  "file:///etc/passwd",
  "chrome://settings",
  "view-source:https://example.com",
  "data:text/html,hi",
  "javascript:alert(1)",
  "about:blank",
  "ftp://example.com",
])("the address %s is refused", (written) => {
  expect(pageAddress(written)).toMatchObject({ ok: false, text: expect.stringContaining("only http and https") });
});

test.each(["", "http://", "https://exa mple.com"])("the address %j is no URL", (written) => {
  expect(pageAddress(written)).toMatchObject({ ok: false, text: expect.stringContaining("is no URL") });
});

test.each([
  ["http://localhost:1", true],
  ["http://app.localhost", true],
  ["http://0x7f.1", true],
  ["http://2130706433", true],
  ["http://0", true],
  ["http://[::1]", true],
  ["http://10.0.0.1", false],
  ["http://localhost.example.com", false],
])("%s is this machine: %s", (address, expected) => {
  expect(isLoopback(new URL(address))).toBe(expected);
});

test("permissions are for host and port", () => {
  expect(siteOf("http://localhost:3000/a")).toBe("localhost:3000");
  expect(siteOf("about:blank")).toBe("about:blank");
});
