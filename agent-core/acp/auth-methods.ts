/** The ways to get at a model's key that an editor can offer when one is missing. */
import type { AuthMethod, ClientCapabilities } from "@zed-industries/agent-client-protocol";

/** Reads the home again: for a key that was put there meanwhile. */
export const HOME_METHOD = "hermes-home";

/** Asks for provider, key and model in a terminal (entry/setup.ts). */
const SETUP_METHOD = "hermes-setup";
const SETUP_ARGUMENT = "--setup";

/** Before ACP had a capability for it, editors said with this in `_meta` that they can, and wanted the command in full. */
const EARLIER_NAME = "terminal-auth";

/** The terminal only for clients that can run this program in one. */
export function authMethods({ auth, _meta }: ClientCapabilities): AuthMethod[] {
  const home: AuthMethod = {
    id: HOME_METHOD,
    name: "Use the key in the Hermes home",
    description: "Reads ~/.hermes/.env and config.yaml again. `hermes-acp --setup` in a terminal writes them.",
  };
  if (auth?.terminal !== true && _meta?.[EARLIER_NAME] !== true) return [home];
  const name = "Set up a model in the terminal";
  const command = { command: process.execPath, args: [...process.argv.slice(1), SETUP_ARGUMENT], env: {}, label: name };
  const terminal: AuthMethod = {
    id: SETUP_METHOD,
    type: "terminal",
    name,
    description: "Asks for provider, key and model, and tries them.",
    args: [SETUP_ARGUMENT],
    _meta: { [EARLIER_NAME]: command },
  };
  return [terminal, home];
}
