/** The module `vscode` of the unit tests: its texts, in English, and its events. */
import { EventEmitter as ThinEmitter } from "./panel/thin-events.ts";

export class EventEmitter<Value> extends ThinEmitter<Value> {}

export const l10n = {
  t: (text: string, ...values: readonly unknown[]): string =>
    text.replaceAll(/\{(\d+)\}/g, (hole, index) => String(values[Number(index)] ?? hole)),
};

export const env = { language: "en" };
