// How to cite each turn, in words and in BibTeX, made from what the page shows as citations.py makes it.
"use strict";
(() => {
  const whole = document.querySelector("article.whole");
  if (!whole) return;
  const ANONYMOUS = new Set(["reviewer", "area_chair", "senior_area_chair", "ethics_reviewer"]);
  const ID = /^[A-Za-z0-9_-]+$/;
  const ESCAPES = {
    "\\": "\\textbackslash{}", "{": "\\{", "}": "\\}", "$": "\\$", "&": "\\&", "#": "\\#", "%": "\\%", "_": "\\_",
    "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "`": "\\textasciigrave{}",
  };
  const latex = (text) => text.normalize("NFC").replace(/([-',<>])(?=\1)|[\\{}$&#%_~^`]/g,
    (sign) => ESCAPES[sign] || `${sign}{}`);
  const cut = (text) => {
    const joined = text.trim().split(/\s+/u).join(" ");
    const signs = [...joined];
    return signs.length <= 300 ? joined : `${signs.slice(0, 300).join("")} …`;
  };
  const read = (element, selector) => element.querySelector(selector)?.textContent.trim() ?? "";
  const given = JSON.parse(whole.dataset.cite ?? "{}");
  const title = cut(read(whole, "h1"));
  const venue = cut(read(whole, ".paper-head .facts a"));
  const titleTex = given.title ?? latex(title);
  const authors = (given.authors ?? read(whole, ".authors").split(", ").filter((name) => name).map((name) => latex(cut(name))))
    .slice(0, 50).map((name) => `{${name}}`).join(" and ") || "{Anonymous authors}";
  const forum = read(whole, "section[aria-labelledby=record] code");

  // What is read of a turn: who speaks, of what kind it is, when, and the id of its post.
  const readTurn = (turn) => {
    const head = turn.querySelector(":scope > header, :scope > summary");
    const toAll = turn.matches(".to-all");
    const role = toAll ? "author" : turn.classList[1];
    const [name, signature] = [read(head, ".role"), read(head, ".signature")];
    const talk = turn.closest(".conversation");
    const kind = read(head, ".kind") || turn.dataset.kind
      || (turn === talk?.querySelector(":scope > .turn.reviewer") ? "Review" : "Comment");
    const date = read(head, ".when, time");
    return {
      role, name, kind, date: date === "no date" ? "" : date,
      speaker: role === "author" ? "The authors" : signature ? `${name} (${cut(signature)})` : name,
      post: turn.dataset.post ?? decodeURIComponent(turn.id.replace(/^post-/, "")),
    };
  };

  const cite = (turn) => {
    const { role, name, kind, date, speaker, post } = readTurn(turn);
    const isReview = kind === "Review";
    const link = ID.test(forum) ? `https://openreview.net/forum?id=${forum}${ID.test(post) ? `&noteId=${post}` : ""}` : "";
    const words = [speaker, `${kind} ${isReview ? "of" : "on"} “${title}”`, venue, date].filter((part) => part).join(". ");
    const year = date.slice(-4) || given.year;
    const author = role === "author" ? authors : `{${ANONYMOUS.has(role) ? `Anonymous ${name.toLowerCase()}` : name}}`;
    const note = latex([`${kind}: ${speaker}`, ...(date ? [date] : [])].join(", "));
    const fields = {
      title: `{${latex(`${kind} ${isReview ? "of" : "on"} “`)}${titleTex}”}`, author, year,
      howpublished: `${latex("OpenReview, ")}${given.venue ?? latex(venue)}`, url: link,
      note: `${note}; ${isReview ? "reviewed" : "discussed"} paper: {${titleTex}}`,
    };
    const key = `${forum}-${post || "discussion"}`.replace(/[^A-Za-z0-9_-]+/g, "");
    const lines = Object.entries(fields).filter(([, value]) => value).map(([field, value]) => `  ${field} = {${value}},`);
    return [`${words}.${link ? ` ${link}` : ""}`, [`@misc{${key},`, ...lines, "}"].join("\n")];
  };

  const make = (tag, ...inner) => {
    const element = document.createElement(tag);
    element.append(...inner);
    return element;
  };
  for (const turn of whole.querySelectorAll(".turn[id], .to-all[id]")) {
    if (turn.closest("section[aria-labelledby=ai]")) continue;
    const [words, bibtex] = cite(turn);
    const details = make("details", make("summary", "Cite this"), make("p", "In words"), make("pre", words),
      make("p", "BibTeX"), make("pre", bibtex));
    details.className = "cite";
    turn.append(details);
  }
})();
