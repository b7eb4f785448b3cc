/** Script of the panel's page: elements that are wider than the panel and cannot be scrolled on their own. */
export const TOO_WIDE = `(() => {
  const width = document.documentElement.clientWidth;
  const scrolls = (element) =>
    element !== null && (/auto|scroll|hidden/.test(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
  return [...document.querySelectorAll("#root *")]
    .filter((element) => element.getBoundingClientRect().right > width + 1 && !scrolls(element.parentElement))
    .map((element) => element.tagName + " " + element.className);
})()`;
