// The keyboard, for whoever wants it; every page works without.
"use strict";
(() => {
  const help = document.getElementById("keys");
  const search = document.getElementById("q");
  const conversations = [...document.querySelectorAll(".conversation")];
  const turns = [...document.querySelectorAll(".turn")];

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
    const next = step(turns, by, hasFocus);
    if (!next) return;
    if (next.id) history.replaceState(null, "", `#${next.id}`);
    show(next, next);
  };

  // The turn that has the focus, else the first on screen.
  const here = () => step(turns, 0, hasFocus);

  const toggle = (kind) => {
    const all = [...(here()?.querySelectorAll(`:scope > ${kind}`) ?? [])];
    const isOpen = all.every((details) => details.open);
    for (const details of all) details.open = !isOpen;
    return all;
  };

  const cite = () => {
    const [details] = toggle(".cite");
    if (details) (details.open ? details.querySelector("button") : here()).focus();
  };

  const conversation = (by) => {
    const next = step(conversations, by, hasFocus);
    if (!next) return;
    history.replaceState(null, "", `#${next.id}`);
    show(next, next);
  };

  const keys = {
    "/": () => { if (search) { search.focus(); search.select(); } else { location.href = document.querySelector("header.site nav a").href; } },
    j: () => along(1),
    k: () => along(-1),
    n: () => conversation(1),
    p: () => conversation(-1),
    o: () => toggle(".fold"),
    c: cite,
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

  // Without a secure context there is no clipboard to write to: the text is then selected and copied as by hand.
  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text.textContent);
    } catch {
      getSelection().selectAllChildren(text);
      document.execCommand("copy");
    }
  };

  for (const text of document.querySelectorAll(".cite pre")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await copy(text);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    text.previousElementSibling.append(button);
  }

  // The table of contents marks the section that is read.
  const entries = new Map();
  for (const link of document.querySelectorAll('.side a[href^="#"]')) {
    const section = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (section) entries.set(section, link);
  }
  const mark = () => {
    let read = null;
    for (const [section, link] of entries) {
      link.removeAttribute("aria-current");
      if (section.getBoundingClientRect().top < innerHeight / 3) read = link;
    }
    read?.setAttribute("aria-current", "true");
  };
  if (entries.size) {
    let isAsked = false;
    addEventListener("scroll", () => {
      if (isAsked) return;
      isAsked = true;
      requestAnimationFrame(() => { isAsked = false; mark(); });
    }, { passive: true });
    mark();
  }

  // A form sends only what is asked, so that addresses stay short.
  for (const form of document.querySelectorAll("form.ask")) {
    form.addEventListener("submit", (event) => {
      if (event.defaultPrevented) return;
      for (const field of form.elements) if (field.name && !field.value) field.disabled = true;
    });
    addEventListener("pageshow", () => { for (const field of form.elements) field.disabled = false; });
  }
})();
