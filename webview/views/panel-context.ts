/** What every view may reach: the state on screen, the way to the host, what is kept over a reload. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { PanelMemory } from "../panel-memory.ts";
import type { PanelMessage } from "../panel-protocol.ts";
import type { PanelStore } from "../panel-store.ts";

export type Panel = {
  readonly store: PanelStore;
  readonly memory: PanelMemory;
  readonly post: (message: PanelMessage) => void;
  /** The numbering of the host's events: another one means another conversation. */
  readonly epoch: () => string;
};

export const PanelContext = createContext<Panel | undefined>(undefined);

export function usePanel(): Panel {
  const panel = useContext(PanelContext);
  if (panel === undefined) throw new Error("A view stands outside the panel's context.");
  return panel;
}
