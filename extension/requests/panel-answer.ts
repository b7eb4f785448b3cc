/** What the panel answers: an option with the reason of a no, or a question's text (null: no answer). */
export type PanelAnswer =
  | { readonly kind: "option"; readonly optionId: string; readonly reason?: string }
  | { readonly kind: "text"; readonly text: string | null };
