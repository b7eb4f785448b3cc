import { chooseModel } from "../models/choose-model.ts";
import type { Command } from "./command.ts";

export const command: Command = { id: "hermes.chooseModel", run: (services) => chooseModel(services) };
