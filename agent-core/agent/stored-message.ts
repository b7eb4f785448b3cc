/** A message as the journal keeps it: what tools have printed is stored without the secrets in it. */
import type { Environment } from "../config/home.ts";
import type { Message } from "../messages/message.ts";
import { redact } from "../providers/redact.ts";

/** Names of variables whose values are nobody else's. */
const SECRET_NAME = /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$/i;

/** The same message where there is nothing to hide. */
export function storedMessage(message: Message, environment: Environment): Message {
  if (message.role !== "tool") return message;
  const secrets = Object.entries(environment).flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []));
  const content = redact(message.content, secrets);
  return content === message.content ? message : { ...message, content };
}
