/** The panel's view in package.json. */
export const CHAT_VIEW = "hermes.chat";
