/** Wraps foreign text for a prompt in `<tag name="…">`; the text cannot close the tag. */
export function wrapData(tag: string, name: string, text: string): string {
  const safe = text.replace(new RegExp(`<(/?)(${tag})\\b`, "gi"), "<$1\u200b$2");
  return `<${tag} name=${JSON.stringify(name)}>\n${safe.trim()}\n</${tag}>`;
}
