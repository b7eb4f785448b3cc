import { pathToFileURL } from "node:url";
import { priceOf } from "./prices.js";

/** Sum of the prices of `articles` in cents. */
export function total(articles) {
  return articles.reduce((sum, article) => sum + (priceOf(article) ?? 0), 0);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const basket = ["apple", "apple", "bread"];
  process.stdout.write(`${basket.join(", ")}: ${(total(basket) / 100).toFixed(2)}\n`);
}
