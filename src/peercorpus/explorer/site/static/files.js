// The files of the search. The page begins with this script, so that those of the words in its address come early.
"use strict";
const files = (() => {
  const sizes = JSON.parse(document.currentScript.dataset.sizes);
  const folder = new URL("search/", location.href);
  const arrived = new Map();
  window.deliver = (name, content) => arrived.set(name, content);
  const coming = new Map();
  const load = (kind, place) => {
    const name = `${kind}/${Math.floor(place / sizes.perFolder)}/${place}`;
    if (!coming.has(name)) {
      coming.set(name, new Promise((resolve, reject) => {
        const script = document.createElement("script");
        script.src = new URL(`${name}.js`, folder).href;
        script.fetchPriority = "high";
        const fail = () => { coming.delete(name); reject(new Error(name)); };
        script.onload = () => (arrived.has(name) ? resolve(arrived.get(name)) : fail());
        script.onerror = fail;
        document.head.append(script);
      }));
    }
    return coming.get(name);
  };

  // CRC-32, as in search_files.py.
  const encoder = new TextEncoder();
  const choose = (word, number) => {
    let sum = -1;
    for (const byte of encoder.encode(word)) {
      sum ^= byte;
      for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
    }
    return ((~sum) >>> 0) % number;
  };
  const ofWord = (word) => load("w", choose(word, sizes.words));
  // An id or an address without the signs that come along where it is copied from a text.
  const strip = (asked) => asked.replace(/^[\s"'<>()[\]{}.,;‘’“”„«»]+|[\s"'<>()[\]{}.,;‘’“”„«»]+$/g, "");
  const isAddress = (asked) => /^(?:https?:\/\/)?(?:[a-z0-9-]+\.)?openreview\.net\/\S+$/i.test(asked);
  // Loads the files of the words of a search; what fails is asked for again when it is needed.
  const expect = (asked) => {
    if (isAddress(strip(asked))) return;
    for (const token of words.read(asked)) for (const stem of token.stems) ofWord(stem).catch(() => {});
  };
  expect(new URLSearchParams(location.hash.slice(1)).get("q") || "");
  return { sizes, load, choose, ofWord, strip, isAddress, expect };
})();
