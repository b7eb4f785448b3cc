import { describe, expect, test } from "vitest";
import { networkSettings, networkVariables, proxyFor } from "../../../../agent-core/platform/http/network-settings.ts";

/** Origin of the proxy for an address, or `direct`. */
function routeOf(address: string, environment: Readonly<Record<string, string>>): string {
  return proxyFor(new URL(address), networkSettings(environment))?.url.origin ?? "direct";
}

const api = "https://api.example.com/v1";
const proxy = "http://proxy.example:3128";

describe("the proxy of the environment", () => {
  test("HTTPS_PROXY and HTTP_PROXY are for their own protocol", () => {
    const environment = { HTTPS_PROXY: "http://one:1", HTTP_PROXY: "http://two:2" };
    expect(routeOf(api, environment)).toBe("http://one:1");
    expect(routeOf("http://api.example.com", environment)).toBe("http://two:2");
    expect(routeOf(api, { HTTP_PROXY: "http://two:2" })).toBe("direct");
  });

  test("the lower case comes first, and ALL_PROXY is for what has none", () => {
    expect(routeOf(api, { https_proxy: "http://one:1", HTTPS_PROXY: "http://two:2" })).toBe("http://one:1");
    expect(routeOf(api, { ALL_PROXY: "http://all:3", HTTP_PROXY: "http://two:2" })).toBe("http://all:3");
    expect(routeOf("http://api.example.com", { all_proxy: "http://all:3" })).toBe("http://all:3");
  });

  test("an address without protocol is an HTTP proxy's, and an empty one is none", () => {
    expect(routeOf(api, { HTTPS_PROXY: "proxy.example:3128" })).toBe(proxy);
    expect(routeOf(api, { HTTPS_PROXY: " " })).toBe("direct");
  });

  test.each(["socks5://user:secret@proxy:1080", "http://", "::"])("%s is refused without its password", (address) => {
    expect(() => routeOf(api, { ALL_PROXY: address })).toThrow(
      /^the proxy .* cannot be used: .*http\(s\):\/\/host:port$/,
    );
    expect(() => routeOf(api, { ALL_PROXY: address })).not.toThrow(/secret/);
  });

  test.each([
    "http://localhost:11434",
    "http://127.0.0.1:1234/v1",
    "http://127.9.9.9",
    "https://[::1]:8080",
    "http://my.localhost",
  ])("%s is on this machine and is reached without it", (address) => {
    expect(routeOf(address, { ALL_PROXY: proxy })).toBe("direct");
  });
});

describe("NO_PROXY", () => {
  test.each([
    ["*", true],
    ["example.com", true],
    [".example.com", true],
    ["*.example.com", true],
    ["api.example.com", true],
    ["API.Example.COM.", true],
    ["other.org, api.example.com", true],
    ["other.org api.example.com", true],
    ["api.example.com:443", true],
    ["api.example.com:8443", false],
    ["ample.com", false],
    ["example.com.evil", false],
    ["10.0.0.0/8", false],
    ["", false],
    [",,", false],
  ])("%s", (list, isDirect) => {
    expect(routeOf(api, { HTTPS_PROXY: proxy, NO_PROXY: list })).toBe(isDirect ? "direct" : proxy);
  });

  test.each([
    ["10.1.2.3", "10.1.2.3", true],
    ["10.1.2.3", "10.0.0.0/8", true],
    ["11.1.2.3", "10.0.0.0/8", false],
    ["10.1.2.3:8000", "10.1.2.3:8000", true],
    ["10.1.2.3:8001", "10.1.2.3:8000", false],
    ["[fd00::1]", "fd00::1", true],
    ["[fd00::1]", "[fd00::1]:443", true],
    ["[fd00::1]", "fd00::/8", true],
    ["[fd00::1]", "10.0.0.0/99", false],
  ])("%s under %s: %s", (host, list, isDirect) => {
    expect(routeOf(`https://${host}`, { HTTPS_PROXY: proxy, no_proxy: list })).toBe(isDirect ? "direct" : proxy);
  });
});

describe("the choices of VS Code and config.yaml", () => {
  const environment = { HTTPS_PROXY: proxy, NO_PROXY: "example.com" };

  test("override the environment one by one", () => {
    const own = networkVariables({ proxy: "http://own:8080" });
    expect(routeOf("https://api.other.org", { ...environment, ...own })).toBe("http://own:8080");
    expect(routeOf(api, { ...environment, ...own })).toBe("direct");
    expect(routeOf(api, { ...environment, ...own, ...networkVariables({ noProxy: "nothing" }) })).toBe(
      "http://own:8080",
    );
  });

  test("empty ones change nothing", () => {
    expect(networkVariables({ proxy: "", noProxy: "", proxyAuthorization: undefined, strictSsl: true })).toEqual({});
  });

  test("`off` means no proxy", () => {
    expect(routeOf("https://api.other.org", { ...environment, ...networkVariables({ proxy: "off" }) })).toBe("direct");
  });

  test("only an explicit choice accepts every certificate", () => {
    expect(networkSettings({}).strictSsl).toBe(true);
    expect(networkSettings({ NODE_TLS_REJECT_UNAUTHORIZED: "0" }).strictSsl).toBe(true);
    expect(networkSettings(networkVariables({ strictSsl: false })).strictSsl).toBe(false);
  });

  test("user and password come from the proxy's address, or from the header that the user set", () => {
    const authorization = (variables: Readonly<Record<string, string>>) =>
      proxyFor(new URL(api), networkSettings({ HTTPS_PROXY: "http://us%40er:pa%3Ass@proxy:1", ...variables }))
        ?.authorization;
    expect(authorization({})).toBe(`Basic ${Buffer.from("us@er:pa:ss").toString("base64")}`);
    expect(authorization(networkVariables({ proxyAuthorization: "Bearer x" }))).toBe("Bearer x");
  });
});
