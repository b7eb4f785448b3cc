/** `hermes gateway setup`: a platform's token, the people who may write, and the folder that chats work in. */
import { resolve } from "node:path";
import { setHomeVariable } from "../agent-core/config/home-file.ts";
import type { Dialog } from "../agent-core/entry/terminal-dialog.ts";
import { UsageError } from "../agent-core/platform/errors.ts";
import { makeFolder } from "../agent-core/platform/make-folder.ts";
import { type GatewaySettings, workspaceOf } from "./settings.ts";

type Field = { readonly variable: string; readonly question: string; readonly isSecret: boolean };

const secret = (variable: string, question: string): Field => ({ variable, question, isSecret: true });
const plain = (variable: string, question: string): Field => ({ variable, question, isSecret: false });

/** Fields of each platform, in the order of the questions. docs/gateway.md says where each value is found. */
const fields: Readonly<Record<string, readonly Field[]>> = {
  telegram: [secret("TELEGRAM_BOT_TOKEN", "Token of @BotFather: ")],
  discord: [secret("DISCORD_BOT_TOKEN", "Token of the bot: ")],
  slack: [secret("SLACK_BOT_TOKEN", "Bot token (xoxb-…): "), secret("SLACK_APP_TOKEN", "App token (xapp-…): ")],
  whatsapp: [
    secret("WHATSAPP_CLOUD_ACCESS_TOKEN", "Access token: "),
    plain("WHATSAPP_CLOUD_PHONE_NUMBER_ID", "Id of the phone number: "),
    secret("WHATSAPP_CLOUD_APP_SECRET", "App secret: "),
    secret("WHATSAPP_CLOUD_VERIFY_TOKEN", "Verify token, a word of your choice: "),
  ],
};

/** Asks, and stores the answers in the home's `.env`. Returns false when the input ended. */
export async function setUpGateway(settings: GatewaySettings, dialog: Dialog): Promise<boolean> {
  const { home } = settings;
  const names = Object.keys(fields);
  const platform = await dialog.ask(`Platform (${names.join(", ")}): `);
  if (platform === undefined) return false;
  const asked = fields[platform.toLowerCase()];
  if (asked === undefined) throw new UsageError(`There is no platform ${platform}. Choose one of ${names.join(", ")}.`);
  for (const { variable, question, isSecret } of asked) {
    const value = await (isSecret ? dialog.askSecret(question) : dialog.ask(question));
    if (value === undefined || value === "") return false;
    await setHomeVariable(home, variable, value);
  }
  const ids = await dialog.ask("Ids of the people who may write, with commas (empty: pair by code): ");
  if (ids === undefined) return false;
  if (ids !== "") await setHomeVariable(home, `${platform.toUpperCase()}_ALLOWED_USERS`, ids);
  const before = settings.workspace;
  const folder = await dialog.ask(`Folder that chats work in${before === undefined ? "" : ` [${before}]`}: `);
  const chosen = folder || before;
  if (chosen === undefined) return false;
  const workspace = resolve(chosen);
  makeFolder(workspace);
  workspaceOf({ workspace, home });
  await setHomeVariable(home, "HERMES_GATEWAY_FOLDER", workspace);
  dialog.say("Stored. `hermes gateway run` starts the gateway here, and `hermes gateway install` as a service.");
  return true;
}
