/** Sends one message or file at once, without a running gateway. */
import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../agent-core/platform/clock.ts";
import { UsageError } from "../agent-core/platform/errors.ts";
import { newId } from "../agent-core/platform/new-id.ts";
import type { Outgoing, Sent } from "./adapters/adapter.ts";
import { AdapterLink } from "./adapters/adapter-link.ts";
import { targetIn } from "./deliveries.ts";
import { fitsInto, type Sender } from "./outbox/outbox.ts";
import type { GatewaySettings } from "./settings.ts";
import { toMarkup } from "./text/markup.ts";
import { splitMarkdown } from "./text/split.ts";

const MAX_TRIES = 5;

export type SendRequest = {
  /** `platform[:chat[:thread]]`. */
  readonly to: string;
  readonly text: string;
  readonly files: readonly string[];
};

/** Resolves when all is sent. Throws a UsageError for a wrong target, and an Error in one line when the platform refuses. */
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
  let problem = "its adapter could not be started";
  const link = new AdapterLink({
    platform,
    clock,
    receives: false,
    saved: () => undefined,
    onEvent: () => undefined,
    onSave: () => undefined,
    log: () => undefined,
    onState: (state) => {
      if ("reason" in state) problem = state.reason;
    },
  });
  try {
    await link.made;
    const { sender } = link;
    if (sender === undefined) throw new Error(`${name}: ${problem}.`);
    for (const piece of splitMarkdown(text, fitsInto(sender.limits))) await sendPiece(name, sender, chat, piece);
    for (const file of files) await sendFile(name, sender, chat, file);
  } finally {
    await link.stop();
  }
}

async function sendPiece(name: string, sender: Sender, chat: string, piece: string): Promise<void> {
  const message: Outgoing = {
    text: toMarkup(piece, sender.limits.markup),
    isPlain: false,
    buttons: [],
    nonce: newId().slice(0, 25),
  };
  const sent = await patiently(() => sender.send(chat, message));
  const again =
    !sent.ok && sent.kind === "format"
      ? await patiently(() => sender.send(chat, { ...message, text: piece, isPlain: true }))
      : sent;
  check(name, again);
  await delay(sender.limits.perChatMs);
}

async function sendFile(name: string, sender: Sender, chat: string, path: string): Promise<void> {
  const { size } = await stat(path);
  const { fileBytes } = sender.limits;
  if (size > fileBytes)
    throw new UsageError(`${path} is larger than ${fileBytes / 1_000_000} MB, the limit of ${name}.`);
  const bytes = await readFile(path);
  check(name, await patiently(() => sender.sendFile(chat, { name: basename(path), bytes, caption: "" })));
}

function check(name: string, sent: Sent): void {
  if (!sent.ok) throw new Error(`${name} did not take the message (${sent.kind}): ${sent.reason}.`);
}

/** Waits as the platform asks. An unknown outcome is not tried again: nobody reads a mark about it here. */
async function patiently(send: () => Promise<Sent>): Promise<Sent> {
  for (let tries = 1; ; tries += 1) {
    const sent = await send();
    if (sent.ok || tries >= MAX_TRIES || (sent.kind !== "rate" && sent.kind !== "unsent")) return sent;
    await delay(sent.retryAfterMs ?? 1_000 * tries);
  }
}
