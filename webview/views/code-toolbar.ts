/** The row over a code block: its language, copy, insert at the cursor. */
import type { PanelMessage } from "../../agent-core/protocol/panel-messages.ts";

/** How long "Copied" is shown. */
const COPIED_MS = 1_500;

export function codeToolbar(language: string, text: string, post: (message: PanelMessage) => void): HTMLElement {
  const bar = document.createElement("div");
  bar.className = "code-toolbar";
  const label = document.createElement("span");
  label.className = "code-language";
  label.textContent = language;
  const copy = button("copy", "Copy code", () => {
    navigator.clipboard.writeText(text).then(
      () => {
        copy.firstElementChild?.classList.replace("codicon-copy", "codicon-check");
        setTimeout(() => copy.firstElementChild?.classList.replace("codicon-check", "codicon-copy"), COPIED_MS);
      },
      () => copy.setAttribute("title", "Copying was refused"),
    );
  });
  bar.append(
    label,
    copy,
    button("insert", "Insert at cursor", () => post({ type: "insert-text", text })),
  );
  return bar;
}

function button(icon: string, label: string, act: () => void): HTMLButtonElement {
  const element = document.createElement("button");
  element.type = "button";
  element.className = "icon-button";
  element.title = label;
  element.setAttribute("aria-label", label);
  const glyph = document.createElement("span");
  glyph.className = `codicon codicon-${icon}`;
  element.append(glyph);
  element.addEventListener("click", act);
  return element;
}
