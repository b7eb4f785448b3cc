/** The ways to get at a model's key that an editor can offer when one is missing. */
import type { AuthMethod, ClientCapabilities } from "@zed-industries/agent-client-protocol";

/** Reads the home again: for a key that was put there meanwhile. */
export const HOME_METHOD = "hermes-home";

/** Asks for provider, key and model in a terminal (entry/setup.ts). */
const SETUP_METHOD = "hermes-setup";
const SETUP_ARGUMENT = "--setup";

/** The terminal only for clients that can run this program in one. */
export function authMethods({ auth }: ClientCapabilities): AuthMethod[] {
  const home: AuthMethod = {
    id: HOME_METHOD,
    name: "Use the key in the Hermes home",
    description: "Reads ~/.hermes/.env and config.yaml again. `hermes-acp --setup` in a terminal writes them.",
  };
  if (auth?.terminal !== true) return [home];
  const terminal: AuthMethod = {
    id: SETUP_METHOD,
    type: "terminal",
    name: "Set up a model in the terminal",
    description: "Asks for provider, key and model, and tries them.",
    args: [SETUP_ARGUMENT],
  };
  return [home, terminal];
}
