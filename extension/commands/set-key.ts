import { enterKey } from "../models/enter-key.ts";
import type { Command } from "./command.ts";

export const command: Command = { id: "hermes.setKey", run: (services) => enterKey(services) };
