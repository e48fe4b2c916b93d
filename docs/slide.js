// Sliders over the parameters of a scene: its exact answers, one parameter at a time, the others at their defaults.
(() => {
  const figure = (x) => (x === null ? "–" : Number(x.toPrecision(6)).toString());
  const make = (tag, parent, words = "") => { const one = document.createElement(tag); one.textContent = words; parent.append(one); return one; };
  for (const place of document.querySelectorAll(".slide")) {
    const { answers, parameters } = JSON.parse(place.dataset.known);
    make("p", place, "Exact answers over one parameter, the others at their defaults:");
    const controls = parameters.map((one) => {
      const label = make("label", place, `${one.name} `), slider = make("input", label), said = make("output", label);
      Object.assign(slider, { type: "range", min: 0, max: one.values.length - 1, value: one.at });
      return { one, slider, said };
    });
    const lines = answers.map((name) => { const line = make("p", place, `${name}: `); line.className = "answer"; return make("strong", line); });
    const show = (moved) => {
      for (const control of controls) {
        if (control !== moved) control.slider.value = control.one.at;
        const value = `${figure(control.one.values[control.slider.value])} ${control.one.unit}`;
        control.said.textContent = value;
        control.slider.setAttribute("aria-valuetext", value);
      }
      moved.one.answers[moved.slider.value].forEach((x, k) => { lines[k].textContent = figure(x); });
    };
    for (const control of controls) control.slider.addEventListener("input", () => show(control));
    show(controls[0]);
  }
})();
