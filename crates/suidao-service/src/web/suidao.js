"use strict";
// Refreshes parts of a page, loads others late, and presses buttons by keys. All of it also works without this file.
async function put(element, path) {
  try {
    const answer = await fetch(path, { headers: { accept: "text/html" } });
    if (!answer.ok) return;
    const before = element.querySelector(".state")?.className;
    element.innerHTML = await answer.text();
    // The buttons depend on the state.
    if (before && before !== element.querySelector(".state")?.className) location.reload();
  } catch {
    // The service is restarting; the next attempt may succeed.
  }
}
for (const element of document.querySelectorAll("[data-live]")) {
  setInterval(() => { if (!document.hidden) put(element, element.dataset.live); }, 2000);
}
for (const element of document.querySelectorAll("[data-late]")) put(element, element.dataset.late);
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
  const button = document.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
  if (button) { event.preventDefault(); button.click(); }
});
document.addEventListener("click", (event) => {
  const chip = event.target.closest("[data-term]");
  if (!chip) return;
  const list = document.querySelector("#added");
  const lines = list.value.split("\n").filter((line) => line.trim());
  if (!lines.some((line) => line.split("\t")[0] === chip.dataset.term)) lines.push(chip.dataset.term);
  list.value = lines.join("\n");
});
