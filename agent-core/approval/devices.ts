/** Files below /dev and /proc that are not files: those that swallow anything, and those that end a machine. */

const HARMLESS = /^\/dev\/(?:null|zero|full|tty|ptmx|stdin|stdout|stderr|random|urandom|fd\/\d+|pts\/\d+)$/;
const RAW =
  /^\/dev\/(?:sd[a-z]|hd[a-z]|vd[a-z]|xvd[a-z]|nvme\d|mmcblk\d|r?disk\d?|dm-\d|md\d|loop\d|sr\d|ram\d|nbd\d|zd\d|mtd|mapper\/|disk\/|block\/|mem$|kmem$|port$|nvram$)/;
const RAW_FRAGMENT = /^\/dev\/(?:[shv]d|xvd|nvme|mmcblk|r?disk|mapper)/;
const SYSRQ = /^\/proc\/(?:sysrq-trigger|kcore|kmem)$|^\/sys\/power\/(?:state|disk)$/;
const NETWORK = /^\/dev\/(?:tcp|udp)\//;

export type Device = "harmless" | "raw" | "power" | "network";

/** What kind of device `path` (absolute) names; undefined for ordinary files. Patterns that may name a disk are disks. */
export function deviceOf(path: string): Device | undefined {
  if (HARMLESS.test(path)) return "harmless";
  if (RAW.test(path) || (/[*?[]/.test(path) && RAW_FRAGMENT.test(path))) return "raw";
  if (SYSRQ.test(path)) return "power";
  return NETWORK.test(path) ? "network" : undefined;
}
