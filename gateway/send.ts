/** Sends one message or file at once, without a running gateway. */
import { readFile, stat } from "node:fs/promises";
import type { Clock } from "../agent-core/platform/clock.ts";
import { UsageError } from "../agent-core/platform/errors.ts";
import { AdapterLink, type LinkState } from "./adapters/adapter-link.ts";
import { targetIn } from "./deliveries.ts";
import { Outbox } from "./outbox/outbox.ts";
import type { GatewaySettings } from "./settings.ts";

/** Longest time for a message, with its retries. Milliseconds. */
const SEND_MS = 120_000;

export type SendRequest = {
  /** `platform[:chat[:thread]]`. */
  readonly to: string;
  readonly text: string;
  readonly files: readonly string[];
};

/** Resolves when all is sent. Throws a UsageError for a wrong request, and an Error in one line when the platform refuses. */
export async function sendNow(
  settings: GatewaySettings,
  { to, text, files }: SendRequest,
  clock: Clock,
): Promise<void> {
  const { platform: name, chat: named } = targetIn(to);
  const platform = settings.platforms.find((each) => each.name === name);
  if (platform === undefined)
    throw new UsageError(`--to ${to}: the platform ${name} is not set up. Run \`hermes gateway setup\`.`);
  const chat = named ?? platform.homeChat;
  if (chat === undefined) throw new UsageError(`--to ${to}: name a chat, or set ${name.toUpperCase()}_HOME_CHANNEL.`);
  let problem = `${name}: no answer within ${SEND_MS / 1_000} s`;
  const log = (line: string): void => {
    problem = line;
  };
  const onState = (state: LinkState): void => {
    if ("reason" in state) log(`${name}: ${state.reason}`);
  };
  const nothing = { receives: false, saved: () => undefined, onEvent: () => undefined, onSave: () => undefined };
  const link = new AdapterLink({ platform, clock, log, onState, ...nothing });
  const ledger = { outgoing: new Map(), end: () => undefined, sending: () => undefined, sent: () => undefined };
  const outbox = new Outbox({ journal: ledger, clock, log, readFile, senderOf: () => link.sender });
  const place = { platform: name, chat, isGroup: false };
  try {
    await link.made;
    if (link.sender === undefined) throw new Error(problem);
    const { fileBytes } = link.sender.limits;
    for (const file of files)
      if ((await stat(file)).size > fileBytes)
        throw new UsageError(`${file} is larger than ${fileBytes / 1_000_000} MB, the limit of ${name}.`);
    const late = clock.wait(SEND_MS, AbortSignal.timeout(SEND_MS * 2)).then(() => undefined);
    const texts = text === "" ? [] : [outbox.entry(place, text)];
    for (const entry of [...texts, ...files.map((file) => outbox.fileEntry(place, file))])
      if ((await Promise.race([outbox.send(entry), late])) === undefined) throw new Error(problem);
  } finally {
    await outbox.dispose();
    await link.stop();
  }
}
