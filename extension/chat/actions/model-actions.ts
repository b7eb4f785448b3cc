/** Which model answers, and the first-run page. */
import { chooseModel } from "../../models/choose-model.ts";
import { enterKey } from "../../models/enter-key.ts";
import type { Actions } from "./actions.ts";

export const modelActions: Actions<"use-model" | "choose-model" | "set-key" | "open-setup"> = {
  "use-model": async ({ choice }, { chat, firstRun }) => {
    await chat.setConfig("model", choice);
    firstRun.close();
  },
  "choose-model": (_message, services) => chooseModel(services),
  "set-key": ({ provider }, services) => enterKey(services, provider),
  "open-setup": (_message, { firstRun }) => firstRun.open(),
};
