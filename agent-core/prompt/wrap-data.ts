/** Text of others inside a prompt: wrapped so that it cannot end its own wrapper. */

/** `name` becomes an attribute; `tag` is ours. */
export function wrapData(tag: string, name: string, text: string): string {
  const safe = text.replace(new RegExp(`<(/?)(${tag})\\b`, "gi"), "<$1\u200b$2");
  return `<${tag} name=${JSON.stringify(name)}>\n${safe.trim()}\n</${tag}>`;
}
