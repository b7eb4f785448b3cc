import { afterEach, expect, test } from "vitest";
import { useNetwork } from "../../../agent-core/platform/http/connections.ts";
import { addressGuard, addressRefusal, checkUrl } from "../../../agent-core/web/address-guard.ts";

afterEach(() => useNetwork({}));

const guard = {
  ...addressGuard(false),
  resolve: async (name: string) => {
    if (name.includes("unknown")) throw new Error("ENOTFOUND");
    const both = [
      { address: "93.184.216.34", family: 4 },
      { address: "10.1.2.3", family: 4 },
    ];
    return name === "mixed.example" ? both : both.slice(0, 1);
  },
};

const textOf = async (url: string, using = guard): Promise<string> => {
  const checked = await checkUrl(url, using);
  return checked.ok ? `allowed ${checked.addresses.map(({ address }) => address).join()}` : checked.text;
};

test.each([
  ["this machine", ["127.0.0.1", "127.255.1.2", "0.0.0.0", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1"]],
  ["private", ["10.0.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "fd00::1", "::ffff:10.0.0.1"]],
  ["link-local", ["169.254.1.1", "fe80::1", "fe80::1%eth0", "::ffff:a9fe:101"]],
  [
    "metadata",
    ["169.254.169.254", "168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254", "::ffff:a9fe:a9fe"],
  ],
  ["reserved", ["224.0.0.1", "255.255.255.255", "198.18.0.1", "192.0.0.8", "ff02::1", "::", "::7f00:1"]],
  ["reserved", ["2002:7f00:1::", "2001:0:1::1", "2001:db8::1", "64:ff9b:1::1", "100::1", "fec0::1"]],
])("the guard refuses addresses of %s: %s", (reason, addresses) => {
  for (const address of addresses) expect(addressRefusal(address), address).toContain(reason);
});

test("the guard allows public addresses, mapped and translated ones too", () => {
  const addresses = ["8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1", "::ffff:8.8.8.8", "64:ff9b::808:808"];
  for (const address of addresses) expect(addressRefusal(address), address).toBeUndefined();
});

test("the guard refuses a private address in every spelling of a URL", async () => {
  const hosts = ["2130706433", "0x7f000001", "0177.0.0.1", "0x7f.1", "127.1", "127.0.0.1.", "①②⑦.⓪.⓪.①", "%31%32%37.1"];
  for (const host of [...hosts, "[::ffff:7f00:1]", "[::1]", "[0:0::0:1]"]) {
    expect(await textOf(`http://${host}/x`), host).toMatch(/was refused: it is this machine/);
  }
});

test("the guard refuses a name when one of its addresses is private", async () => {
  expect(await textOf("https://mixed.example/")).toMatch(
    /mixed\.example \(10\.1\.2\.3\) was refused: .*private network/,
  );
  expect(await textOf("https://public.example/")).toBe("allowed 93.184.216.34");
  expect(await textOf("https://unknown.example/")).toBe("unknown.example was not found: it has no address.");
});

test("the guard refuses other schemes, credentials and texts that are no URL", async () => {
  for (const url of ["file:///etc/passwd", "ftp://public.example/", "data:text/html,x", "javascript:1"]) {
    expect(await textOf(url)).toMatch(/only http and https/);
  }
  expect(await textOf("https://public.example@127.0.0.1/")).toMatch(/holds a user name/);
  expect(await textOf("example.com")).toBe('"example.com" is no URL. Give it in full, with https://.');
});

test("the guard allows private addresses if the user says so", async () => {
  const any = { ...guard, refusal: addressGuard(true).refusal };
  expect(await textOf("http://127.0.0.1:8080/", any)).toBe("allowed 127.0.0.1");
  expect(await textOf("http://169.254.1.1/", any)).toBe("allowed 169.254.1.1");
});

test("never allows the metadata of a cloud machine", async () => {
  const any = { ...guard, refusal: addressGuard(true).refusal };
  for (const host of ["169.254.169.254", "0xa9fea9fe", "[::ffff:a9fe:a9fe]", "[fd00:ec2::254]", "100.100.100.200"]) {
    expect(await textOf(`http://${host}/`, any), host).toMatch(/refused: clouds serve .* there\.$/);
  }
  useNetwork({ HERMES_PROXY: "http://127.0.0.1:9" });
  expect(await textOf("http://metadata.google.internal/", any)).toMatch(/refused: clouds serve/);
});

test("behind a proxy, passes unknown names except local ones", async () => {
  useNetwork({ HERMES_PROXY: "http://127.0.0.1:9" });
  expect(await textOf("https://unknown.example/")).toBe("allowed ");
  for (const name of ["unknown-printer", "metadata.unknown.internal", "unknown.local."]) {
    expect(await textOf(`http://${name}/`), name).toMatch(/the name is local/);
  }
  expect(await textOf("https://mixed.example/")).toMatch(/private network/);
});
