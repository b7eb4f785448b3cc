/** Messages between the gateway and the process of an adapter. */
import type { AdapterSettings, Incoming, Limits, Sent } from "./adapter.ts";

export type ToAdapter =
  | {
      readonly type: "start";
      /** Name of a built-in platform, or the path of a module. */
      readonly adapter: { readonly name: string } | { readonly module: string };
      readonly settings: AdapterSettings;
      readonly saved: string | undefined;
      /** False: it only sends. */
      readonly receives: boolean;
    }
  | { readonly type: "call"; readonly id: number; readonly method: AdapterMethod; readonly args: readonly unknown[] }
  | { readonly type: "stored"; readonly id: number }
  | { readonly type: "stop" };

export type AdapterMethod = "send" | "edit" | "stream" | "sendFile" | "fetchFile" | "typing";

export type FromAdapter =
  /** `methods`: those of the optional ones that the adapter has. */
  | { readonly type: "made"; readonly limits: Limits; readonly methods: readonly AdapterMethod[] }
  | { readonly type: "connected" }
  | {
      readonly type: "failed";
      readonly kind: "unauthorized" | "conflict" | "unusable" | "unreachable";
      readonly reason: string;
    }
  | { readonly type: "event"; readonly id: number; readonly event: Incoming }
  | { readonly type: "save"; readonly state: string }
  | { readonly type: "log"; readonly line: string }
  | {
      readonly type: "result";
      readonly id: number;
      readonly value: Sent | Uint8Array | { readonly name: string } | undefined;
    }
  | { readonly type: "error"; readonly id: number; readonly reason: string };
