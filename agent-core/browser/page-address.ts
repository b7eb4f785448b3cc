/** Addresses of pages, as the model writes them and the policy names them. */

/** True for a name or an IP address of this machine, as URL writes it. */
export function isLoopback({ hostname }: URL): boolean {
  return /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\])\.?$/i.test(hostname);
}

/** Port of the server, also a default one. */
export function portOf({ port, protocol }: URL): string {
  if (port !== "") return port;
  return protocol === "https:" ? "443" : "80";
}

export type PageAddress = { readonly ok: true; readonly url: URL } | { readonly ok: false; readonly text: string };

/** Address of a page, with or without its scheme: `localhost:3000`, `example.com/a`. Other schemes than http(s) are refused. */
export function pageAddress(text: string): PageAddress {
  const trimmed = text.trim();
  const hasScheme = /^[a-z][a-z0-9+.-]*:(?!\d)/i.test(trimmed);
  const url = parsed(hasScheme ? trimmed : `https://${trimmed}`);
  const shown = JSON.stringify(trimmed.slice(0, 100));
  if (url === undefined) return { ok: false, text: `${shown} is no URL. Give it in full, with https://.` };
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    return { ok: false, text: `${shown} was refused: the browser opens only http and https.` };
  }
  // Servers of this machine rarely have a certificate.
  return { ok: true, url: hasScheme || !isLoopback(url) ? url : new URL(`http://${trimmed}`) };
}

function parsed(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** Site of a page for permissions: host and port. */
export function siteOf(address: string): string {
  return parsed(address)?.host || address;
}
