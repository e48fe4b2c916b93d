// Search in these pages without a network and without a server: a field in the header, an index loaded when it is used.
(() => {
  const base = document.currentScript.src.replace(/search\.js.*$/, "");
  const header = document.querySelector(".md-header__inner");
  if (!header) return;
  const place = document.createElement("div");
  place.className = "find";
  place.innerHTML = '<input type="search" placeholder="Search" aria-label="Search these pages" autocomplete="off"><ol hidden></ol>';
  header.append(place);
  const [field, list] = place.children;

  const load = () => new Promise((done) => {
    if (window.gaussdynIndex) { done(window.gaussdynIndex); return; }
    const script = document.createElement("script");
    script.src = `${base}search_index.js`;
    script.onload = () => done(window.gaussdynIndex);
    document.head.append(script);
  });
  // All words have to be there; those in titles weigh more.
  const found = (index, words) => index.map((entry) => {
    const title = entry.title.toLowerCase(), text = entry.text.toLowerCase();
    const weights = words.map((word) => (title.includes(word) ? 10 - title.length / 100 : 0) + (text.includes(word) ? 1 : 0));
    return { entry, weight: weights.every((x) => x > 0) ? weights.reduce((a, b) => a + b, 0) : 0 };
  }).filter((one) => one.weight > 0).sort((a, b) => b.weight - a.weight).slice(0, 12);
  const around = (text, word) => {
    const at = Math.max(text.toLowerCase().indexOf(word) - 40, 0);
    return text.slice(at, at + 120);
  };
  const show = async () => {
    const words = field.value.toLowerCase().split(/\s+/).filter((word) => word.length > 1);
    const hits = words.length ? found(await load(), words) : [];
    list.hidden = words.length === 0;
    list.replaceChildren(...hits.map(({ entry }) => {
      const item = document.createElement("li"), link = document.createElement("a"), words_there = document.createElement("small");
      link.href = base + entry.url;
      link.textContent = entry.title;
      words_there.textContent = around(entry.text, words[0]);
      link.append(words_there);
      item.append(link);
      return item;
    }));
    if (words.length && !hits.length) list.textContent = "Nothing found.";
  };
  field.addEventListener("focus", load);
  field.addEventListener("input", show);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { field.value = ""; list.hidden = true; }
    if (event.key === "/" && !["INPUT", "TEXTAREA"].includes(event.target.tagName)) { event.preventDefault(); field.focus(); }
  });
  document.addEventListener("click", (event) => { if (!place.contains(event.target)) list.hidden = true; });
})();
