// What a page of a paper needs scripts for anyway: its table of contents, and turns that the keyboard can move to.
"use strict";
(() => {
  const whole = document.querySelector("article.whole");
  if (!whole) return;
  for (const part of whole.querySelectorAll(".turn, .conversation")) part.tabIndex = -1;

  const make = (tag, className, ...inner) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    element.append(...inner);
    return element;
  };
  const link = (id, text) => {
    const made = make("a", "", text);
    made.href = `#${encodeURIComponent(id)}`;
    return made;
  };
  const list = () => make("ul", "", ...[...whole.querySelectorAll("section > h2[id]")].map((heading) => {
    const item = make("li", "", link(heading.id, heading.textContent));
    const conversations = [...heading.parentElement.querySelectorAll(":scope > .conversation")];
    if (conversations.length) {
      item.append(make("ul", "", ...conversations.map((one) =>
        make("li", "", link(one.id, one.querySelector("h3").textContent)))));
    }
    return item;
  }));

  const contents = make("nav", "contents", make("details", "", make("summary", "", "On this page"), list()));
  contents.setAttribute("aria-label", "Contents");
  whole.querySelector(".paper-head").after(contents);
  const side = make("nav", "side", list());
  side.setAttribute("aria-label", "On this page");
  whole.after(side);
})();
