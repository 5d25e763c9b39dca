// The keyboard, for whoever wants it; every page works without.
"use strict";
(() => {
  const help = document.getElementById("keys");
  const search = document.getElementById("q");
  const conversations = [...document.querySelectorAll(".conversation")];

  const calmly = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";

  const show = (element, focused) => {
    focused.focus({ preventScroll: true });
    element.scrollIntoView({ block: element.classList.contains("paper") ? "nearest" : "start", behavior: calmly });
  };

  // What comes after, or before, the place that has the focus; else the first on screen.
  const step = (all, by, isHere) => {
    const now = all.findIndex(isHere);
    if (now >= 0) return all[Math.min(all.length - 1, Math.max(0, now + by))];
    const below = all.findIndex((one) => one.getBoundingClientRect().bottom > 0);
    return all[Math.max(0, below)];
  };

  const hasFocus = (one) => one.contains(document.activeElement);

  const along = (by) => {
    const papers = [...document.querySelectorAll(".papers > .paper")];
    if (papers.length) {
      const next = step(papers, by, hasFocus);
      if (next) show(next, next.querySelector("h2 a"));
      return;
    }
    const turns = [...document.querySelectorAll(".turn")];
    const next = step(turns, by, hasFocus);
    if (next) show(next, next);
  };

  const conversation = (by) => {
    const next = step(conversations, by, hasFocus);
    if (!next) return;
    history.replaceState(null, "", `#${next.id}`);
    show(next, next);
  };

  const keys = {
    "/": () => { if (search) { search.focus(); search.select(); } else { location.href = document.querySelector("header.site .mark").href; } },
    j: () => along(1),
    k: () => along(-1),
    n: () => conversation(1),
    p: () => conversation(-1),
    "?": () => { if (help) help.showModal(); else location.href = document.querySelector("footer.site a").href; },
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help?.open) return;
    const isTyping = event.target.closest("input, select, textarea");
    if (isTyping && event.key === "Escape") event.target.blur();
    if (isTyping || !(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  });

  // A form sends only what is asked, so that addresses stay short.
  for (const form of document.querySelectorAll("form.ask")) {
    form.addEventListener("submit", (event) => {
      if (event.defaultPrevented) return;
      for (const field of form.elements) if (field.name && !field.value) field.disabled = true;
    });
    addEventListener("pageshow", () => { for (const field of form.elements) field.disabled = false; });
  }
})();
