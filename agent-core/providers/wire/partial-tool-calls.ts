/** Tool calls that arrive in pieces; one accumulator for all wires. */
import { randomUUID } from "node:crypto";
import type { ModelEvent } from "./wire.ts";

export type PartialCall = { readonly index: number; readonly id: string; readonly name: string; arguments: string };

export type CallPiece = {
  readonly index: number;
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly arguments?: string | undefined;
};

export class PartialToolCalls {
  readonly #open = new Map<number, PartialCall>();
  #ended = 0;

  /** Calls seen so far, ended ones included. */
  get count(): number {
    return this.#open.size + this.#ended;
  }

  /** Takes a piece; the events it causes. A piece of another index ends the calls before it. */
  add({ index, id, name, arguments: text = "" }: CallPiece): ModelEvent[] {
    const events: ModelEvent[] = [];
    let call = this.#open.get(index);
    // Some servers send every call under index 0, told apart by their ids.
    if (call !== undefined && id && id !== call.id) {
      events.push(...this.#end(call));
      call = undefined;
    }
    if (call === undefined) {
      events.push(...this.endAll());
      call = { index: this.#ended, id: id || `call_${randomUUID()}`, name: name ?? "", arguments: "" };
      this.#open.set(index, call);
      events.push({ type: "tool-call-start", index: call.index, id: call.id, name: call.name });
    }
    if (text !== "") {
      call.arguments += text;
      events.push({ type: "tool-call-delta", index: call.index, text });
    }
    return events;
  }

  /** Ends every open call; at the end of the stream. */
  endAll(): ModelEvent[] {
    return [...this.#open.values()].flatMap((call) => this.#end(call));
  }

  #end(call: PartialCall): ModelEvent[] {
    for (const [index, open] of this.#open) if (open === call) this.#open.delete(index);
    this.#ended += 1;
    const { id, name, index } = call;
    const ended = { id, type: "function", function: { name, arguments: call.arguments || "{}" } } as const;
    return [{ type: "tool-call-end", index, call: ended }];
  }
}
