// Draws the charts of a page once plotly, which it holds packed, is unpacked; the page can be read before.
(async () => {
  const source = document.getElementById("plotly"), places = [...document.querySelectorAll(".chart")];
  const text = async (node) => new TextDecoder().decode(await gaussdynInflate(node.textContent));
  if (!source || !places.length) return;
  const library = document.createElement("script");
  library.textContent = await text(source);
  document.head.append(library);
  const config = { responsive: true, displaylogo: false, displayModeBar: false };
  for (const place of places) {
    const { data, layout } = JSON.parse(await text(place.querySelector("script")));
    await Plotly.newPlot(place, data, layout, config);
    await new Promise((next) => setTimeout(next, 0));
  }
  window.dispatchEvent(new Event("resize"));
})();
