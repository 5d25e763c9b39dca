// The words of a search, as search_words.py reads those of texts: Porter's second stemmer for English.
"use strict";
const words = (() => {
  const MARKS = /[\u0300-\u036f]+/g;
  const WORD = /[\p{Alphabetic}\p{N}]+/gu;
  const LIMIT = 40;
  const LONGEST = 500;
  const encoder = new TextEncoder();

  const LETTERS = {
    ø: "o", ł: "l", đ: "d", ð: "d", ħ: "h", þ: "th", ß: "ss", æ: "ae", œ: "oe",
    Ø: "O", Ł: "L", Đ: "D", Ð: "D", Ħ: "H", Þ: "Th", ẞ: "Ss", Æ: "Ae", Œ: "Oe", ı: "i",
  };
  const LETTER = new RegExp(`[${Object.keys(LETTERS).join("")}]`, "g");

  // Words in lower case, without accents; longer ones than 39 bytes are left out, as in the index.
  const fold = (text) => text.normalize("NFKD").replace(MARKS, "").replace(LETTER, (letter) => LETTERS[letter]);
  const split = (text) => (fold(text).match(WORD) || [])
    .filter((word) => encoder.encode(word).length < LIMIT)
    .map((word) => [...word].map((sign) => sign.toLowerCase()).join(""));

  const VOWEL = "[aeiouy]";
  const SHORT = /(?:[^aeiouy][aeiouy][^aeiouywxY]|^[aeiouy][^aeiouy]|past)$/;
  const EXCEPTIONS = new Map(Object.entries({
    skis: "ski", skies: "sky", dying: "die", lying: "lie", tying: "tie", idly: "idl", gently: "gentl", ugly: "ugli",
    early: "earli", only: "onli", singly: "singl", sky: "sky", news: "news", howe: "howe", atlas: "atlas",
    cosmos: "cosmos", bias: "bias", andes: "andes",
  }));
  const KEPT = new Set(["inning", "evening", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed"]);
  const SECOND = new Map(Object.entries({
    tional: "tion", enci: "ence", anci: "ance", abli: "able", entli: "ent", izer: "ize", ization: "ize",
    ational: "ate", ogist: "og", ation: "ate", ator: "ate", alism: "al", aliti: "al", alli: "al", fulness: "ful", ousli: "ous",
    ousness: "ous", iveness: "ive", iviti: "ive", biliti: "ble", bli: "ble", fulli: "ful", lessli: "less",
  }));
  const THIRD = new Map(Object.entries({
    tional: "tion", ational: "ate", alize: "al", icate: "ic", iciti: "ic", ical: "ic", ful: "", ness: "",
  }));
  const FOURTH = ["ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize",
    "al", "er", "ic"];

  const region = (word) => {
    const at = word.search(new RegExp(`${VOWEL}[^aeiouy]`));
    return at < 0 ? word.length : at + 2;
  };
  const ending = (word, endings) => {
    let best = "";
    for (const one of endings) if (one.length > best.length && word.endsWith(one)) best = one;
    return best;
  };

  const stem = (given) => {
    let word = given;
    if (word.length < 3) return word;
    if (EXCEPTIONS.has(word)) return EXCEPTIONS.get(word);
    word = word.replace(/^y/, "Y").replace(/([aeiouy])y/g, "$1Y");
    const prefix = /^(gener|commun|arsen|past|univers|later|emerg|organ|inter)/.exec(word);
    const first = prefix ? prefix[0].length : region(word);
    const second = first + region(word.slice(first));
    const cut = (length, added = "") => { word = word.slice(0, word.length - length) + added; };

    if (word.endsWith("sses")) cut(2);
    else if (/ie[ds]$/.test(word)) cut(word.length > 4 ? 2 : 1);
    else if (/s$/.test(word) && !/(us|ss)$/.test(word) && /[aeiouy].+s$/.test(word)) cut(1);
    if (KEPT.has(word)) return word;

    const eed = ending(word, ["eed", "eedly"]);
    const ed = ending(word, ["ed", "edly", "ing", "ingly"]);
    if (eed) {
      if (word.length - eed.length >= first) cut(eed.length, "ee");
    } else if (ed && /[aeiouy]/.test(word.slice(0, -ed.length))) {
      cut(ed.length);
      if (/(at|bl|iz)$/.test(word)) word += "e";
      else if (/(bb|dd|ff|gg|mm|nn|pp|rr|tt)$/.test(word)) { if (!/^[aeo]..$/.test(word)) cut(1); }
      else if (first >= word.length && SHORT.test(word)) word += "e";
    }
    if (word.length > 2 && /[^aeiouy][yY]$/.test(word)) cut(1, "i");

    const two = ending(word, [...SECOND.keys(), "ogi", "li"]);
    if (two && word.length - two.length >= first) {
      if (two === "ogi") { if (word.endsWith("logi")) cut(1); }
      else if (two === "li") { if (/[cdeghkmnrt]li$/.test(word)) cut(2); }
      else cut(two.length, SECOND.get(two));
    }
    const three = ending(word, [...THIRD.keys(), "ative"]);
    if (three && word.length - three.length >= first) {
      if (three === "ative") { if (word.length - 5 >= second) cut(5); }
      else cut(three.length, THIRD.get(three));
    }
    const four = ending(word, [...FOURTH, "ion"]);
    if (four && word.length - four.length >= second && (four !== "ion" || /[st]ion$/.test(word))) cut(four.length);

    if (word.endsWith("e")) {
      const at = word.length - 1;
      if (at >= second || (at >= first && !SHORT.test(word.slice(0, -1)))) cut(1);
    } else if (word.endsWith("ll") && word.length - 1 >= second) cut(1);
    return word.replaceAll("Y", "y");
  };

  // What stands for each word of a search: its stem, or for one with hyphens those of its parts, and the stem of the
  // whole, which the file of the first part has. So do two words that follow each other: they may be written as one.
  // Of a word that ends with * it is the beginning of words.
  const BEGINNING = /^[^\p{L}\p{N}]*([a-z]{3,20})\*[^\p{L}\p{N}*]*$/iu;
  const ROLES = new Set(["reviewer", "reviewers", "anonymous", "anon", "official"]);
  const SIDE_BY_SIDE = /,(?=\p{L})|(?<![\p{L}\p{N}])\p{L}\.(?=\p{L}{2})/gu;  // "Gomez,Ana", "A.Gomez".
  const read = (text) => {
    text = text.slice(0, LONGEST).normalize("NFC").replace(SIDE_BY_SIDE, "$& ");
    const tokens = [];
    const seen = new Set();
    for (const written of text.split(/\s+/)) {
      const parts = split(written);
      const [, begin = ""] = BEGINNING.exec(written) || [];
      if (parts.length && !seen.has(written) && tokens.length < 32) {
        tokens.push({ written, parts, whole: [], begin: begin.toLowerCase() });
      }
      seen.add(written);
    }
    // Of a pseudonym, such as Reviewer_xY3z, the index has the second part, with two full stops.
    const join = ([first, ...rest]) => {
      const [whole, own] = [stem([first, ...rest].join("")), stem(rest.join(""))];
      if (!ROLES.has(first)) return { stem: whole, at: stem(first) };
      return /^[0-9]+$/.test(own) ? { stem: whole, at: whole } : { stem: `${own}..`, at: own };
    };
    tokens.forEach((token, at) => {
      token.stems = token.begin ? [] : token.parts.map(stem);
      if (token.parts.length > 1) token.whole.push(join(token.parts));
      const next = tokens[at + 1];
      if (next && !token.begin && !next.begin && token.parts.length === 1 && next.parts.length === 1) {
        const whole = join([token.parts[0], next.parts[0]]);
        token.whole.push(whole);
        next.whole.push(whole);
      }
    });
    return tokens;
  };
  return { split, stem, read };
})();
