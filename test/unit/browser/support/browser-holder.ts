// A process that starts a browser, prints "ready", and waits to be killed.
import { SessionBrowser } from "../../../../agent-core/browser/session-browser.ts";

const browser = new SessionBrowser({}, () => "/nonexistent");
await browser.use(async ({ url }) => url, true);
process.stdout.write("ready\n");
setInterval(() => undefined, 60_000);
