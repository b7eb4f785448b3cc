/** Price of each article in cents. */
export const prices = {
  apple: 40,
  bread: 320,
  milk: 115,
};

/** Price of `article` in cents, or undefined when the shop does not sell it. */
export function priceOf(article) {
  return prices[article];
}
