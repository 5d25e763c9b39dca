// The search of a site without a server: it loads the files of what is asked for, as scripts.
"use strict";
document.addEventListener("readystatechange", () => {
  const PER_PAGE = 10;
  const WEIGHTS = [0, 1, 2, 4];  // Not there; in a post; in the abstract; in title, keywords or authors.
  const MAX_VALUES = 8;
  const MAX_VENUES = 4;
  const MAX_BEGUN = 24;  // Words for one with *: each is in a file of its own.
  const LONGEST_SPELT = 20;
  const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const VALUES = new Uint8Array(128);
  [...DIGITS].forEach((digit, value) => { VALUES[digit.charCodeAt(0)] = value; });
  const list = document.getElementById("results");
  const STATUSES = JSON.parse(list.dataset.statuses);
  const index = { ...JSON.parse(list.dataset.index), ...files.sizes };
  const root = new URL(".", location.href);

  // Marks the papers of a word in `into`: 3 for the best field, 1 for the last; see search_files.py.
  // After a tilde the last list is of the papers that lack the word.
  const decode = (entry, into) => {
    const isFrequent = entry[0] === "~";
    if (isFrequent) into.fill(1);
    let at = isFrequent ? 1 : 0;
    const counts = [0, 0, 0].map(() => {
      let count = 0, shift = 1, value;
      do {
        value = VALUES[entry.charCodeAt(at)];
        count += (value & 31) * shift;
        shift *= 32;
        at += 1;
      } while (value >= 32);
      return count;
    });
    let held = 0, left = 0;
    const bits = (number) => {
      while (left < number) {
        held = ((held << 6) | VALUES[entry.charCodeAt(at)]) & 0x3fffffff;
        at += 1;
        left += 6;
      }
      left -= number;
      return (held >>> left) & ((1 << number) - 1);
    };
    counts.forEach((count, field) => {
      let number = -1, parameter = 0;
      for (let place = 0; place < count; place += 1) {
        if (place % 64 === 0) parameter = bits(4);
        let gap = 0;
        while (bits(1)) gap += 1;
        number += gap * 2 ** parameter + (parameter ? bits(parameter) : 0) + 1;
        into[number] = isFrequent && field === 2 ? 0 : Math.max(into[number], 3 - field);
      }
    });
    return into;
  };

  // Venues by their names, as venue_names.py has them.
  const venues = index.venues.map(([id, year, ...names]) => {
    const exact = new Set([words.split(id).join(""), ...(year ? names.map((name) => `${name}${year}`) : [])]);
    return { id, year, names, exact, words: new Set([...names, ...exact, ...(year ? [String(year)] : [])]) };
  });
  const findNamed = (tokens) => {
    const asked = new Set(tokens.flatMap((token) => [token.parts.join(""), ...token.parts]));
    const years = new Set([...asked].filter((word) => /^[0-9]{4}$/.test(word)).map(Number));
    return venues.filter(({ year, names, exact }) => [...exact].some((name) => asked.has(name))
      || (names.some((name) => asked.has(name)) && (!years.size || years.has(year))));
  };

  // A word may be the first name of an author, or its initials, whose surname is near it; see names.py.
  const NEAR = 3;
  const TWO = { ä: "ae", ö: "oe", ü: "ue", ø: "oe", å: "aa", Ä: "Ae", Ö: "Oe", Ü: "Ue", Ø: "Oe", Å: "Aa" };
  const isInitials = ({ parts }) => parts.every((part) => /^\p{L}$/u.test(part));
  // Letters that people may type as two.
  const spell = (token) => {
    const two = words.split(token.written.replace(/[äöüøå]/gi, (letter) => TWO[letter]));
    token.names = [...new Set([...token.parts, ...two].filter((part) => [...part].length > 1).map(words.stem))];
    if (token.parts.length !== 1 || two[0] === token.parts[0]) return;
    const stem = words.stem(two[0]);
    token.whole.push({ stem, at: stem });
  };
  const readName = (token, before, after) => {
    if (token.begin) return;
    if (isInitials(token)) {
      const beside = [after, before].map((side) => side.find((other) => !isInitials(other)));
      token.initials = { letters: token.parts, beside: beside.filter((other) => other).map((other) => other.names) };
      return;
    }
    const near = [...before.slice(0, NEAR), ...after.slice(0, NEAR)].filter((other) => !other.begin);
    const [, run = ""] = /^[^\p{L}\p{N}]*([A-Z]{2,3})[^\p{L}\p{N}]*$/u.exec(token.written) || [];
    const [first, ...rest] = token.parts[0];
    token.first = { letter: rest.length ? first : "", run: [...run.toLowerCase()], names: near.flatMap((other) => other.names) };
  };
  const readTokens = (text) => {
    const tokens = words.read(text);
    for (const token of tokens) if (!token.begin) spell(token); else token.names = [];
    tokens.forEach((token, at) => readName(token, tokens.slice(0, at).reverse(), tokens.slice(at + 1)));
    return tokens;
  };

  // Papers of one venue, year and decision stand together.
  let first = 0;
  const runs = index.runs.map(([venue, year, status, papers]) => {
    const run = { venue: index.venues[venue][0], named: venues[venue], year, status, start: first, end: first + papers };
    first = run.end;
    return run;
  });
  // The papers of one word of a search: those with all its parts, and those that have it as one word.
  const mark = async (token) => {
    const initials = token.initials && await markInitials(token);
    if (initials) return initials;
    const marks = await (token.begin ? markBegun(token) : markWord(token));
    const joined = token.parts.join("");
    for (const run of runs) {
      if (run.named.words.has(joined)) marks.subarray(run.start, run.end).forEach((value, at, part) => { part[at] = value || 1; });
    }
    return marks;
  };
  // The papers of parts of names with an initial; null if there are none.
  const better = (marks, other) => {
    if (!marks) return other;
    for (let number = 0; number < marks.length; number += 1) if (other[number] > marks[number]) marks[number] = other[number];
    return marks;
  };
  const worse = (marks, other) => {
    if (!marks) return other;
    for (let number = 0; number < marks.length; number += 1) if (other[number] < marks[number]) marks[number] = other[number];
    return marks;
  };
  const markLetter = async (letter, names) => {
    let marks = null;
    for (const name of names) {
      const held = await files.ofWord(name);
      const key = `${name}.${letter}`;
      if (Object.hasOwn(held, key)) marks = better(marks, decode(held[key], new Uint8Array(index.papers)));
    }
    return marks;
  };
  const markLetters = async (letters, names) => {
    let marks = null;
    for (const letter of letters) {
      const found = await markLetter(letter, names);
      if (!found) return null;
      marks = worse(marks, found);
    }
    return marks;
  };
  const markInitials = async ({ written, initials: { letters, beside } }) => {
    for (const names of beside) {
      const marks = names.length && await markLetters(letters, names);
      if (marks) return marks;
    }
    if (letters.length > 1 || !written.endsWith(".")) return null;
    for (const name of beside.flat()) {
      const held = await files.ofWord(name);
      if (Object.keys(held).some((key) => key.startsWith(`${name}.`))) return new Uint8Array(index.papers);
    }
    return null;
  };
  // Names that papers have with the initial only: after all others.
  const markFirst = async ({ letter, run, names }) => {
    let marks = null;
    const add = (found) => { if (found) marks = better(marks, found.map((value) => (value ? 1 : 0))); };
    if (letter) add(await markLetter(`${letter}.`, names));
    if (run.length) for (const name of names) add(await markLetters(run, [name]));
    return marks;
  };
  // The most frequent words that begin as asked; their groups by length overlap, so that every third is enough.
  const markBegun = async (token) => {
    const lengths = [];
    for (let length = token.begin.length + 1; length <= LONGEST_SPELT + 1; length += 3) lengths.push(length);
    const groups = await Promise.all(lengths.map((length) => loadSpellings(`${token.begin[0]}${length}`)));
    const found = new Map([[words.stem(token.begin), token.begin]]);
    const known = groups.flat().filter(([word]) => word.startsWith(token.begin)).sort((a, b) => b[1] - a[1]);
    for (const [word] of known) if (!found.has(words.stem(word))) found.set(words.stem(word), word);
    const taken = [...found].slice(0, MAX_BEGUN);
    const isKnown = known.some(([word]) => word === token.begin);
    token.begun = { words: taken.map(([, word]) => word).slice(isKnown ? 0 : 1), left: found.size - taken.length };
    const marks = new Uint8Array(index.papers);
    for (const file of await Promise.all(taken.map(async ([stem]) => [stem, await files.ofWord(stem)]))) {
      const [stem, held] = file;
      if (!Object.hasOwn(held, stem)) continue;
      decode(held[stem], new Uint8Array(index.papers)).forEach((value, number) => { if (value > marks[number]) marks[number] = value; });
    }
    return marks;
  };
  const markWord = async (token) => {
    const held = await Promise.all([...token.stems, ...token.whole.map((whole) => whole.at)].map(files.ofWord));
    const read = async (stem, file) => {
      if (!Object.hasOwn(file, stem)) return null;
      // What is too long to stand in the file of its first part stands in its own only.
      const entry = file[stem] || (await files.ofWord(stem))[stem];
      return decode(entry, new Uint8Array(index.papers));
    };
    const parts = await Promise.all(token.stems.map((stem, at) => read(stem, held[at])));
    const wholes = await Promise.all(token.whole.map((whole, at) => read(whole.stem, held[token.stems.length + at])));
    let marks = parts.includes(null) ? new Uint8Array(index.papers) : parts[0];
    for (const part of parts.slice(1)) if (part) marks = worse(marks, part);
    for (const whole of wholes) if (whole) marks = better(marks, whole);
    const pseudonym = token.stems.length === 1 && held[0][`${token.stems[0]}..`];
    if (pseudonym) marks = better(marks, decode(pseudonym, new Uint8Array(index.papers)));
    const named = token.first && await markFirst(token.first);
    return named ? better(marks, named) : marks;
  };

  const runOf = (number) => {
    let low = 0, high = runs.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (runs[middle].end <= number) low = middle + 1; else high = middle;
    }
    return runs[low];
  };

  // Returns papers, the best first; whether they have any of the words only, and which words none of them has.
  const rank = (tokens, marks, filters) => {
    const known = marks.map((one) => {
      let papers = 0;
      for (let number = 0; number < one.length; number += 1) papers += one[number] > 0;
      return papers;
    });
    const rarity = known.map((papers) => (papers ? Math.log(1 + index.papers / papers) : 0));
    const kept = runs.filter((run) => filters.every(([name, value]) => String(run[name] ?? "") === value));
    const collect = (least) => {
      const byScore = new Map();
      let last = -1, equals = null;
      const found = marks.map(() => 0);
      for (const run of kept) {
        for (let number = run.start; number < run.end; number += 1) {
          let score = 0, has = 0;
          for (let at = 0; at < marks.length; at += 1) {
            const value = marks[at][number];
            if (value) { has += 1; score += rarity[at] * WEIGHTS[value]; }
          }
          if (has < least) continue;
          if (has > least) score += (has - least) * 1000;
          if (least < marks.length) for (let at = 0; at < marks.length; at += 1) found[at] += marks[at][number] > 0;
          if (score !== last) {
            last = score;
            equals = byScore.get(score);
            if (!equals) byScore.set(score, equals = []);
          }
          equals.push(number);
        }
      }
      const numbers = [...byScore.keys()].sort((a, b) => b - a).flatMap((score) => byScore.get(score));
      return { numbers, missed: tokens.filter((_, at) => !found[at]).map((token) => token.written) };
    };
    const whole = collect(marks.length);
    if (whole.numbers.length || !marks.length) return { ...whole, missed: [], isAny: false };
    return { ...collect(1), isAny: true };
  };

  // Spelling: of the words that begin with the same letter, or with the second one, the nearest; of these the most
  // frequent. Nearness is the number of letters added, left out, replaced, or swapped with the next.
  const distance = (a, b) => {
    let before = [], last = [...Array(b.length + 1).keys()];
    for (let i = 1; i <= a.length; i += 1) {
      const row = [i];
      for (let j = 1; j <= b.length; j += 1) {
        const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? before[j - 2] + 1 : Infinity;
        row.push(Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] !== b[j - 1]), swapped));
      }
      [before, last] = [last, row];
    }
    return last[b.length];
  };
  const loadSpellings = async (group) => {
    const held = (await files.load("s", files.choose(group, index.spellings)))[group];
    return (held ? held.split(" ") : []).map((entry) => entry.split(":")).map(([word, count]) => [word, Number(count)]);
  };
  const suggest = async (word, papers) => {
    if (!/^[a-z]{4,20}$/.test(word)) return null;
    const most = word.length >= 7 && !papers ? 2 : 1;
    const groups = [...new Set([`${word[0]}${word.length}`, `${word[1]}${word.length}`])];
    let best = null;
    for (const group of groups) {
      for (const [other, count] of await loadSpellings(group)) {
        if (other === word || Math.abs(other.length - word.length) > most || count < 30 * papers) continue;
        const far = distance(word, other);
        if (far <= most && (!best || far < best.far)) best = { other, far };
      }
      if (best && best.far === 1) break;
    }
    return best && best.other;
  };
  const correct = async (tokens, marks) => {
    let corrected = 0;
    const better = await Promise.all(tokens.map((token, at) => {
      const papers = marks[at].reduce((sum, value) => sum + (value > 0), 0);
      if (papers > 3 || token.begin || token.parts.length > 1 || (corrected += 1) > 4) return null;
      return suggest(token.parts[0], papers);
    }));
    return better.some((word) => word) ? tokens.map((token, at) => better[at] || token.written).join(" ") : null;
  };

  // Ids and addresses of OpenReview.
  const readAddress = (asked) => {
    if (!files.isAddress(asked)) return null;
    try {
      const named = new URL(asked.includes("//") ? asked : `https://${asked}`).searchParams;
      return [named.get("noteId"), named.get("id")].filter((id) => id);
    } catch {
      return [];
    }
  };
  const isLikeId = (asked) => /^[\w-]{4,64}$/.test(asked) && /[0-9_]|[^-][A-Z]|-./.test(asked);
  const findId = async (ids) => {
    for (const id of ids) {
      const held = await files.load("i", files.choose(id, index.ids));
      if (Object.hasOwn(held, id)) return Array.isArray(held[id]) ? held[id] : [held[id], ""];
    }
    return null;
  };
  const paperOf = async (number) => {
    const place = Math.floor(number / index.perFile);
    return (await files.load("d", place))[number % index.perFile];
  };

  // The page. Texts of papers become text nodes only.
  const byId = (id) => document.getElementById(id);
  const form = byId("search");
  const [summary, total, facets, spelling, signs, named, missed, more, browse] =
    ["summary", "total", "facets", "spelling", "signs", "named", "missed", "more", "browse"].map(byId);
  let asking = 0;

  const make = (tag, className, ...inner) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    element.append(...inner);
    return element;
  };
  const format = (number) => String(number).replace(/\B(?=(?:[0-9]{3})+$)/g, ",");
  const count = (number, noun) => `${format(number)} ${noun}${number === 1 ? "" : "s"}`;
  const hashOf = (values) => `#${new URLSearchParams(Object.entries(values).filter(([, value]) => value))}`;

  const drawPaper = (number, [title, address, reviews, rating, scale]) => {
    const { venue, status } = runOf(number);
    const link = make("a", "", title);
    link.href = new URL(address, root).href;
    const facts = make("p", "facts", make("span", `status ${status}`, STATUSES[status] || status), " ",
      make("span", "", venue), " ", make("span", "", count(reviews, "review")));
    const shown = rating === null ? make("span", "rating none", "no rating")
      : make("span", "rating", make("span", "unseen", "Mean rating "), make("strong", "", rating), " ",
        make("span", "of", scale));
    return make("li", "paper", make("h2", "", link), facts, shown);
  };

  const askFor = (numbers) => {
    const papers = numbers.slice(0, PER_PAGE).map(paperOf);
    for (const paper of papers) paper.catch(() => {});  // The one that is waited for says so.
  };
  const drawMore = async (numbers, asked) => {
    const begin = list.children.length;
    const next = numbers.slice(begin, begin + PER_PAGE);
    askFor(next);
    const papers = next.map(paperOf);
    for (const [at, number] of next.entries()) {
      const paper = await papers[at];
      if (asked !== asking) return;
      list.append(drawPaper(number, paper));
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

  const drawFacets = (numbers, given) => {
    const counts = { venue: new Map(), year: new Map(), status: new Map() };
    const perRun = new Map();
    for (const number of numbers) { const run = runOf(number); perRun.set(run, (perRun.get(run) || 0) + 1); }
    for (const [run, papers] of perRun) {
      for (const name of Object.keys(counts)) {
        if (run[name] !== null) counts[name].set(run[name], (counts[name].get(run[name]) || 0) + papers);
      }
    }
    const titles = { venue: "Venue", year: "Year", status: "Decision" };
    facets.replaceChildren(...Object.entries(counts).filter(([, values]) => values.size).map(([name, values]) => {
      const ranked = [...values].sort((a, b) => (name === "year" ? b[0] - a[0] : b[1] - a[1]));
      const items = ranked.slice(0, MAX_VALUES).map(([value, papers]) => {
        const label = name === "status" ? STATUSES[value] || value : String(value);
        const link = make(given[name] ? "span" : "a", "", label);
        if (!given[name]) link.href = hashOf({ ...given, [name]: String(value) });
        return make("li", "", link, " ", make("span", "n", format(papers),
          make("span", "unseen", papers === 1 ? " paper" : " papers")));
      });
      if (ranked.length > MAX_VALUES) items.push(make("li", "note", "and more"));
      return make("section", "", make("h2", "", titles[name]), make("ul", "", ...items));
    }));
    facets.hidden = numbers.length < 2;
  };

  const drawMissed = (found, filters) => {
    const where = filters.length ? " with these filters" : "";
    const { isAny, missed: words, numbers } = found;
    missed.hidden = !isAny;
    if (!isAny) return;
    const bold = words.flatMap((word, at) => [
      ...(at ? [at === words.length - 1 ? " or " : ", "] : []), make("strong", "", word)]);
    if (!words.length) missed.replaceChildren(`No paper${where} has all these words; these have some of them, those with more of them first.`);
    else missed.replaceChildren(`No paper${where} has `, ...bold,
      numbers.length ? "; these have other words of the search, those with more of them first." : ".");
  };

  const drawNamed = (found) => {
    named.hidden = !found.length;
    const addresses = new Map([...browse.querySelectorAll("a")].map((link) => [link.textContent, link.href]));
    const links = found.slice(0, MAX_VENUES).map(({ id }) => {
      const link = make("a", "", id);
      link.href = addresses.get(id);
      return link;
    });
    const rest = make("a", "", `${format(found.length - MAX_VENUES)} more`);
    rest.href = new URL("venues.html", root).href;
    named.replaceChildren(found.length === 1 ? "Venue: " : "Venues: ", ...links.flatMap((link, at) => (at ? [", ", link] : [link])),
      ...(found.length > MAX_VENUES ? [" and ", rest] : []));
  };

  // What of the words asked for has no meaning here, or not the one that it may seem to have.
  const drawSigns = (asked, tokens) => {
    const found = [
      /["“”„]/.test(asked) && "quotes", /(?:^|\s)-[^\s-]/.test(asked) && "a minus sign",
      ...["AND", "OR", "NOT"].map((one) => new RegExp(`(?:^|\\s)${one}(?:\\s|$)`).test(asked) && one),
      /(?:^|\s)(?:title|abstract|keywords|authors|venue|reviews|answers|others|text):\S/.test(asked) && "the name of a field",
    ].filter((one) => one);
    const said = found.length ? [`${found.join(", ").replace(/^./, (first) => first.toUpperCase())} ${
      found.length === 1 && found[0] !== "quotes" ? "has" : "have"} no meaning here: all words were searched for, wherever they are in a paper.`] : [];
    for (const { written, begin, begun } of tokens) {
      if (begin) {
        const shown = (begun.words.length ? begun.words : [begin]).join(", ");
        said.push(`${written} was searched for as ${shown}${begun.left ? ` (${format(begun.left)} rarer words were left out)` : ""}.`);
      } else if (written.includes("*")) {
        said.push(`${written} was searched for without *, which can only follow three or more letters from a to z at the end of a word.`);
      }
    }
    signs.hidden = !said.length;
    signs.textContent = said.join(" ");
  };

  const drawSpelling = (words, given) => {
    spelling.hidden = !words;
    if (!words) return;
    const link = make("a", "", words);
    link.href = hashOf({ ...given, q: words });
    spelling.replaceChildren("Did you mean ", link, "?");
  };

  const attempt = async (action) => {
    try {
      await action();
    } catch (error) {
      total.textContent = `The search could not load its file “${error.message}”; copy the whole site, or try again.`;
    }
  };

  const NAMES = ["q", "venue", "year", "status"];
  const KINDS = { venue: "venue", year: "year", status: "decision" };
  // What the address asks for; a value that its field does not offer is kept, so that nothing else is shown instead.
  const readForm = () => {
    const asked = new URLSearchParams(location.hash.slice(1));
    const given = Object.fromEntries(NAMES.map((name) => [name, (asked.get(name) || "").trim()]));
    for (const name of NAMES) form.elements[name].value = given[name];
    return given;
  };
  const findUnknown = (given) => Object.keys(KINDS).find((name) => given[name] && form.elements[name].value !== given[name]);

  const goTo = async (ids, asked) => {
    const found = ids.length ? await findId(ids) : null;
    if (!found || asked !== asking) return false;
    const [, address] = await paperOf(found[0]);
    // A step back leads to the empty form, not here again.
    history.replaceState(null, "", location.pathname);
    location.assign(new URL(`${address}${found[1] ? `#${found[1]}` : ""}`, root).href);
    return true;
  };

  const run = async () => {
    const given = readForm();
    asking += 1;
    const asked = asking;
    const filters = NAMES.slice(1).map((name) => [name, given[name]]).filter(([, value]) => value);
    const isEmpty = !given.q && !filters.length;
    browse.hidden = !isEmpty;
    summary.hidden = isEmpty;
    for (const part of [more, facets, spelling, signs, named, missed]) part.hidden = true;
    list.replaceChildren();
    if (isEmpty) return;
    const unknown = findUnknown(given);
    if (unknown) {
      total.textContent = `This site has no ${KINDS[unknown]} “${given[unknown]}”; choose another one above.`;
      return;
    }
    total.textContent = "Searching …";
    await attempt(async () => {
      const plain = files.strip(given.q);
      const named = readAddress(plain);
      if (named && await goTo(named, asked)) return;
      if (named) {
        if (asked === asking) total.textContent = "No paper of this site has this address.";
        return;
      }
      const leads = !filters.length && isLikeId(plain) ? goTo([plain], asked) : false;
      const tokens = readTokens(given.q);
      const marks = await Promise.all(tokens.map(mark));
      if (asked !== asking || await leads) return;
      const found = given.q && !tokens.length ? { numbers: [], missed: [], isAny: false } : rank(tokens, marks, filters);
      askFor(found.numbers);  // Before anything is drawn.
      const suggested = correct(tokens, marks);
      suggested.catch(() => {});
      total.replaceChildren(make("strong", "", format(found.numbers.length)), found.numbers.length === 1 ? " paper" : " papers");
      drawSigns(given.q, tokens);
      drawNamed(findNamed(tokens));
      drawMissed(found, filters);
      drawFacets(found.numbers, given);
      await drawMore(found.numbers, asked);
      const spelt = await suggested;
      if (asked === asking) drawSpelling(spelt, given);
    });
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const hash = hashOf(Object.fromEntries(new FormData(form)));
    if (hash === location.hash || (hash === "#" && !location.hash)) run(); else location.hash = hash;
  });
  for (const field of form.querySelectorAll("select")) {
    field.addEventListener("change", () => form.requestSubmit());
  }
  // While somebody types, the files of the words that are complete are loaded.
  let typed = 0;
  form.elements.q.addEventListener("input", () => {
    clearTimeout(typed);
    typed = setTimeout(() => files.expect(form.elements.q.value), 150);
  });
  addEventListener("hashchange", (event) => { if (event.newURL.endsWith("#main")) return; run(); });
  form.hidden = false;
  byId("without").hidden = true;
  const began = location.hash && location.hash !== "#main" ? run() : Promise.resolve();
  // The keyboard waits for a search that the address asks for.
  began.finally(() => {
    const keys = document.createElement("script");
    keys.src = new URL("static/keys.js", root).href;
    document.head.append(keys);
  });
}, { once: true });
