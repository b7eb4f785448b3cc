/**
 * Addresses that a URL from the model may reach. A URL passes when each address of its host is public. The caller
 * connects to exactly the addresses of the check, so that a changed name changes nothing.
 */
import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { abortable } from "../platform/deadline.ts";
import { connections } from "../platform/http/connections.ts";
import { proxyFor } from "../platform/http/network-settings.ts";

export type AddressGuard = {
  /** Addresses of a host name. Rejects for an unknown name. */
  readonly resolve: (hostname: string) => Promise<readonly LookupAddress[]>;
  /** Reason why no connection goes to an IP address; undefined for an allowed one. */
  readonly refusal: (address: string) => string | undefined;
};

/** `addresses` is empty for a name that only the proxy resolves. */
export type CheckedUrl =
  | { readonly ok: true; readonly url: URL; readonly addresses: readonly LookupAddress[] }
  | { readonly ok: false; readonly text: string };

const THIS_MACHINE = "it is this machine";
const PRIVATE = "it is in a private network";
const LINK_LOCAL = "it is link-local";
const METADATA = "clouds serve the metadata and keys of their machines there";
const SPECIAL = "it is reserved, no host of the internet";

/** Ranges without public hosts: the IANA registry of special-purpose addresses, and the metadata services of clouds. */
const REFUSED_V4: readonly (readonly [network: string, prefix: number, reason: string])[] = [
  ["169.254.169.254", 32, METADATA], // most clouds
  ["169.254.170.2", 32, METADATA], // containers on AWS
  ["168.63.129.16", 32, METADATA], // Azure
  ["100.100.100.200", 32, METADATA], // Alibaba
  ["192.0.0.192", 32, METADATA], // Oracle
  ["0.0.0.0", 8, THIS_MACHINE],
  ["127.0.0.0", 8, THIS_MACHINE],
  ["10.0.0.0", 8, PRIVATE],
  ["100.64.0.0", 10, PRIVATE],
  ["172.16.0.0", 12, PRIVATE],
  ["192.168.0.0", 16, PRIVATE],
  ["169.254.0.0", 16, LINK_LOCAL],
  ["192.0.0.0", 24, SPECIAL],
  ["192.0.2.0", 24, SPECIAL],
  ["192.88.99.0", 24, SPECIAL],
  ["198.18.0.0", 15, SPECIAL],
  ["198.51.100.0", 24, SPECIAL],
  ["203.0.113.0", 24, SPECIAL],
  ["224.0.0.0", 4, SPECIAL],
  ["240.0.0.0", 4, SPECIAL],
];

/** Prefixes of IPv6 addresses with an IPv4 address in their last 32 bits: mapped ones, and NAT64. */
const EMBEDDING_V4 = ["::ffff:", "64:ff9b::"];

const REFUSED_V6: typeof REFUSED_V4 = [
  ["fd00:ec2::254", 128, METADATA], // AWS
  ["::1", 128, THIS_MACHINE],
  ["fc00::", 7, PRIVATE],
  ["fe80::", 10, LINK_LOCAL],
  ["2001::", 23, SPECIAL], // with Teredo
  ["2001:db8::", 32, SPECIAL],
  ["2002::", 16, SPECIAL], // 6to4, which holds an IPv4 address and has no relays any more
  ["3fff::", 20, SPECIAL],
];

/** All hosts of the internet with an IPv6 address are in these ranges. */
const PUBLIC_V6: readonly (readonly [network: string, prefix: number])[] = [
  ["2000::", 3],
  ...EMBEDDING_V4.map((prefix) => [`${prefix}0.0.0.0`, 96] as const),
];

const refused = new Map<string, BlockList>();
const publicV6 = new BlockList();
for (const [network, prefix] of PUBLIC_V6) publicV6.addSubnet(network, prefix, "ipv6");
for (const [network, prefix, reason] of REFUSED_V4) {
  listFor(reason).addSubnet(network, prefix, "ipv4");
  for (const start of EMBEDDING_V4) listFor(reason).addSubnet(`${start}${network}`, 96 + prefix, "ipv6");
}
for (const [network, prefix, reason] of REFUSED_V6) listFor(reason).addSubnet(network, prefix, "ipv6");

function listFor(reason: string): BlockList {
  const list = refused.get(reason) ?? new BlockList();
  refused.set(reason, list);
  return list;
}

/** Reason why `address` is not a public host's; undefined for a public IP address. */
export function addressRefusal(address: string): string | undefined {
  const [bare = ""] = address.split("%"); // the zone of a link-local address
  const family = isIP(bare);
  if (family === 0) return "it is no IP address";
  const kind = family === 6 ? "ipv6" : "ipv4";
  for (const [reason, list] of refused) if (list.check(bare, kind)) return reason;
  return family === 6 && !publicV6.check(bare, kind) ? SPECIAL : undefined;
}

/** Guard for the setting `web.allow_private_urls`. It never allows the metadata services of clouds. */
export function addressGuard(allowsPrivate: boolean): AddressGuard {
  return {
    resolve: (hostname) => lookup(hostname, { all: true }),
    refusal: allowsPrivate ? metadataRefusal : addressRefusal,
  };
}

function metadataRefusal(address: string): string | undefined {
  return addressRefusal(address) === METADATA ? METADATA : undefined;
}

/**
 * Checks scheme, credentials, host and addresses of a URL. The URL parser reads decimal, octal and hexadecimal spellings
 * of an IPv4 address. Behind a proxy, the proxy resolves the name a second time, and its result cannot be checked. The
 * name is then checked by this machine's own lookup. A name that this machine does not know must not be a local one.
 */
export async function checkUrl(address: string | URL, guard: AddressGuard, signal?: AbortSignal): Promise<CheckedUrl> {
  const url = URL.canParse(String(address)) ? new URL(address) : undefined;
  if (url === undefined) return { ok: false, text: `${shown(address)} is no URL. Give it in full, with https://.` };
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    return { ok: false, text: `${shown(address)} was refused: only http and https are allowed.` };
  }
  if (url.username !== "" || url.password !== "") {
    return { ok: false, text: `The URL of ${url.host} was refused: it holds a user name or password. Remove it.` };
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const addresses = isIP(host) === 0 ? await resolved(url, guard, signal) : [{ address: host, family: isIP(host) }];
  if (!Array.isArray(addresses)) return { ok: false, text: addresses };
  for (const { address: each } of addresses) {
    const reason = guard.refusal(each);
    const named = each === host ? each : `${host} (${each})`;
    const permission = reason === METADATA ? "" : ` ${PERMISSION}`;
    if (reason !== undefined) return { ok: false, text: `${named} was refused: ${reason}.${permission}` };
  }
  return { ok: true, url, addresses };
}

/** Name resolution that knows only the addresses of a check. */
export function pinned(addresses: readonly LookupAddress[]): LookupFunction {
  return (hostname, { all }, callback) => {
    const [first] = addresses;
    if (first === undefined) callback(new Error(`${hostname} has no checked address`), "", 0);
    else if (all) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };
}

const PERMISSION = "Only the user can allow such addresses, with web.allow_private_urls in config.yaml.";

/** Names that never belong to a host of the internet, with the trailing dot or without. */
const LOCAL_NAME = /^[^.]+\.?$|\.(?:localhost|local|internal|lan|home|corp|intranet|home\.arpa)\.?$/i;

/** Names of metadata services, which a proxy would resolve. */
const METADATA_NAME = /^(?:metadata|instance-data|metadata\.google\.internal|instance-data\.ec2\.internal)\.?$/i;

/** Addresses of the URL's host, or the reason why there are none. */
async function resolved(
  url: URL,
  guard: AddressGuard,
  signal: AbortSignal | undefined,
): Promise<LookupAddress[] | string> {
  const host = url.hostname;
  if (METADATA_NAME.test(host)) return `${host} was refused: ${METADATA}.`;
  try {
    const addresses = await (signal ? abortable(guard.resolve(host), signal) : guard.resolve(host));
    if (addresses.length > 0) return [...addresses];
  } catch (error) {
    if (signal?.aborted) throw error;
  }
  if (proxyFor(url, connections().settings) === undefined) return `${host} was not found: it has no address.`;
  const isRefused = LOCAL_NAME.test(host) && guard.refusal("127.0.0.1") !== undefined;
  return isRefused ? `${host} was refused: the name is local. ${PERMISSION}` : [];
}

/** A wrong URL in a message, cut to a line. */
function shown(address: string | URL): string {
  return JSON.stringify(String(address).slice(0, 100));
}
