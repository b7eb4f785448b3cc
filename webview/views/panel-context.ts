/** Gives every view access to the panel. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Panel } from "../panel.ts";

export const PanelContext = createContext<Panel | undefined>(undefined);

export function usePanel(): Panel {
  const panel = useContext(PanelContext);
  if (panel === undefined) throw new Error("usePanel() must be called inside PanelContext.");
  return panel;
}
