// The search of a site that no server stands behind: it loads the files of the words that are asked for, as scripts.
"use strict";
(() => {
  const PER_PAGE = 10;
  // Bytes of frequent words that one search loads before it asks whether to go on: a fifth of a second on a slow phone.
  const BUDGET = 40000;
  const WEIGHTS = [4, 2, 1];
  const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const VALUES = new Map([...DIGITS].map((digit, value) => [digit.charCodeAt(0), value]));
  const STATUSES = JSON.parse(document.getElementById("results").dataset.statuses);
  const folder = new URL("../search/", document.currentScript.src);
  const root = new URL("../", document.currentScript.src);

  // Files. Each calls deliver(name, content).
  const arrived = new Map();
  window.deliver = (name, content) => arrived.set(name, content);
  const coming = new Map();
  const load = (name) => {
    if (!coming.has(name)) {
      coming.set(name, new Promise((resolve, reject) => {
        const script = document.createElement("script");
        script.src = new URL(`${name}.js`, folder).href;
        script.onload = () => (arrived.has(name) ? resolve(arrived.get(name)) : reject(new Error(name)));
        script.onerror = () => { coming.delete(name); reject(new Error(name)); };
        document.head.append(script);
      }));
    }
    return coming.get(name);
  };

  // Words: the rules of words.py.
  const stem = (word) => {
    if (word.length < 4 || !word.endsWith("s")) return word;
    if (/ies$/.test(word) && !/[ae]ies$/.test(word)) return `${word.slice(0, -3)}y`;
    if (/es$/.test(word) && !/[aeo]es$/.test(word)) return word.slice(0, -1);
    return /(us|ss|es)$/.test(word) ? word : word.slice(0, -1);
  };
  const wordsOf = (text) => {
    const plain = text.normalize("NFKD").replace(/[\u0300-\u036f]+/g, "").toLowerCase();
    const found = (plain.match(/[\p{L}\p{N}]+/gu) || []).map((word) => [...word].slice(0, 30).join(""));
    return [...new Set(found.filter((word) => !/^[0-9]{5,}$/.test(word)).map(stem))];
  };

  // Lists: three of ascending numbers, one for each field. Returns paper → field.
  const decode = (lists, start, into = new Map()) => {
    lists.split(".").forEach((digits, field) => {
      let number = start, gap = 0, shift = 0;
      for (let at = 0; at < digits.length; at += 1) {
        const value = VALUES.get(digits.charCodeAt(at));
        gap += (value % 32) * 2 ** shift;
        if (value >= 32) { shift += 5; continue; }
        number += gap;
        into.set(number, field);
        gap = 0;
        shift = 0;
      }
    });
    return into;
  };

  const lookUp = async (directory, word) => {
    let low = 0, high = directory.firsts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (directory.firsts[middle] <= word) low = middle + 1; else high = middle;
    }
    if (!low) return undefined;
    return (await load(`w/${low - 1}`)).find((entry) => entry[0] === word);
  };

  // Returns the papers that have every word, the best first, and how many papers were looked through.
  const find = async (words, labels, isWhole) => {
    const directory = await load("words");
    const entries = await Promise.all([...words, ...labels].map((word) => lookUp(directory, word)));
    const every = directory.papers;
    if (entries.some((entry) => !entry)) return { numbers: [], seen: every, every };
    const rare = entries.filter((entry) => typeof entry[2] === "string");
    const frequent = entries.filter((entry) => typeof entry[2] !== "string");
    const maps = new Map(rare.map((entry) => [entry, decode(entry[2], 0)]));
    let spans = [...Array(Math.ceil(every / directory.span)).keys()];
    const isIn = (number) => rare.every((entry) => maps.get(entry).has(number));
    if (rare.length) {
      const shortest = rare.reduce((a, b) => (a[1] <= b[1] ? a : b));
      const needed = new Set();
      for (const number of maps.get(shortest).keys()) {
        if (isIn(number)) needed.add(Math.floor(number / directory.span));
      }
      spans = spans.filter((span) => needed.has(span));
    }
    spans = spans.filter((span) => frequent.every((entry) => entry[2].some((file) => file[0] === span)));
    let size = 0, seen = every;
    const files = [];
    for (const span of frequent.length ? spans : []) {
      const ofSpan = frequent.map((entry) => [entry, entry[2].find((file) => file[0] === span)]);
      size += ofSpan.reduce((sum, [, file]) => sum + file[2], 0);
      if (!isWhole && files.length && size > BUDGET) { seen = span * directory.span; break; }
      files.push(...ofSpan.map(([entry, file]) => [entry, file[1], span]));
    }
    const contents = await Promise.all(files.map(([, number]) => load(`l/${number}`)));
    for (const entry of frequent) maps.set(entry, new Map());
    files.forEach(([entry, , span], at) => decode(contents[at], span * directory.span, maps.get(entry)));
    const [first] = [...entries].sort((a, b) => maps.get(a).size - maps.get(b).size);
    const scored = [];
    for (const number of maps.get(first).keys()) {
      if (number >= seen || !entries.every((entry) => maps.get(entry).has(number))) continue;
      const score = entries.slice(0, words.length).reduce(
        (sum, entry) => sum + Math.log(1 + every / entry[1]) * WEIGHTS[maps.get(entry).get(number)], 0);
      scored.push([number, score]);
    }
    scored.sort((a, b) => b[1] - a[1] || a[0] - b[0]);
    return { numbers: scored.map(([number]) => number), seen, every };
  };

  // The page. Texts of papers become text nodes only.
  const form = document.getElementById("search");
  const list = document.getElementById("results");
  const total = document.getElementById("total");
  const more = document.getElementById("more");
  const rest = document.getElementById("rest");
  const browse = document.getElementById("browse");
  let asking = 0;

  const make = (tag, className, ...inner) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    element.append(...inner);
    return element;
  };
  const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

  const drawPaper = ([title, address, venue, status, reviews, rating, scale]) => {
    const link = make("a", "", title);
    link.href = new URL(address, root).href;
    const facts = make("p", "facts", make("span", `status ${status}`, STATUSES[status] || status),
      make("span", "", venue), make("span", "", count(reviews, "review")));
    const shown = rating === null ? make("span", "rating none", "no rating")
      : make("span", "rating", make("span", "unseen", "Mean rating "), make("strong", "", rating), " ",
        make("span", "of", scale));
    return make("li", "paper", make("h2", "", link), facts, shown);
  };

  const drawMore = async (numbers, asked) => {
    const directory = await load("words");
    const begin = list.children.length;
    const next = numbers.slice(begin, begin + PER_PAGE);
    const files = next.map((number) => load(`d/${Math.floor(number / directory.perFile)}`));
    for (const file of files) file.catch(() => {});  // The one that is waited for says so.
    for (const [at, number] of next.entries()) {
      const file = await files[at];
      if (asked !== asking) return;
      list.append(drawPaper(file[number % directory.perFile]));
    }
    more.hidden = list.children.length >= numbers.length;
    more.onclick = async () => {
      more.disabled = true;
      await attempt(() => drawMore(numbers, asked));
      more.disabled = false;
      const added = list.children[begin + PER_PAGE];
      if (added) added.querySelector("a").focus();
    };
  };

  const attempt = async (action) => {
    try {
      await action();
    } catch (error) {
      total.textContent = `The search could not load its file “${error.message}”; copy the whole site, or try again.`;
    }
  };

  const read = () => {
    const given = new URLSearchParams(location.hash.slice(1));
    for (const field of form.elements) if (field.name) field.value = given.get(field.name) || "";
    const labels = ["venue", "year", "status"].map((name) => form.elements[name].value).filter((value) => value);
    return { words: wordsOf(form.elements.q.value), labels };
  };

  const run = async (isWhole = false) => {
    const { words, labels } = read();
    asking += 1;
    const asked = asking;
    const isEmpty = !words.length && !labels.length;
    browse.hidden = !isEmpty;
    more.hidden = rest.hidden = true;
    if (isEmpty) {
      list.replaceChildren();
      total.textContent = "";
      return;
    }
    total.textContent = "Searching …";
    await attempt(async () => {
      const { numbers, seen, every } = await find(words, labels, isWhole);
      if (asked !== asking) return;
      list.replaceChildren();
      const among = seen < every ? ` among the newest ${count(seen, "paper")}` : "";
      total.textContent = numbers.length ? count(numbers.length, "paper") + among
        : `No paper${among} has all of this. Search for fewer words.`;
      rest.hidden = seen >= every;
      rest.textContent = `Search all ${count(every, "paper")}`;
      rest.onclick = () => run(true);
      await drawMore(numbers, asked);
    });
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const given = [...new FormData(form)].filter(([, value]) => value);
    const hash = `#${new URLSearchParams(given)}`;
    if (hash === location.hash || (hash === "#" && !location.hash)) run(); else location.hash = hash;
  });
  for (const field of form.querySelectorAll("select")) {
    field.addEventListener("change", () => form.requestSubmit());
  }
  addEventListener("hashchange", (event) => { if (event.newURL.endsWith("#main")) return; run(); });
  form.hidden = false;
  document.getElementById("without").hidden = true;
  load("words").catch(() => {});
  if (location.hash && location.hash !== "#main") run();
})();
