// Plays the film of a run: time, keys, words. What is seen is drawn by a stage (stage.js, flat.js).
(async () => {
  const source = document.getElementById("film");
  if (!source) return;
  const byId = (id) => document.getElementById(id);
  const canvas = byId("stage"), strip = byId("strip"), slider = byId("scrub"), play = byId("play"), choice = byId("speed");
  const INK = "#1d2733", SOFT = "#5b6b7a";
  const OUTCOME = JSON.parse(byId("colours").textContent);
  const view = { turn: -Math.PI / 3, tilt: Math.PI / 9, zoom: 1 };
  let film, frames, first, last, duration, space, stage;
  let frame = 0, playing = false, clock = 0, speed = 1, zoomed = false;

  // Takes a film to be shown: the only one of a page, or a longer one of a run that is being computed.
  const load = (found) => {
    film = found;
    frames = film.t.length; first = film.t[0]; last = film.t[frames - 1];
    duration = Math.max(last - first, 1e-12);
    const size = Math.max(...film.half), close = film.space ? Math.max(film.span, 0.5 * film.spread) : film.span;
    if (!zoomed) view.zoom = close && size > 4 * close ? size / (2.5 * close) : 1; // small bodies that travel far are followed
    const before = space;
    space = film.space ? gaussdynStage(canvas, film, view) : null;
    stage = space || gaussdynFlat(canvas, film, view);
    if (before && space) { Object.assign(space.shown, before.shown); Object.assign(space.state, before.state); }
    slider.max = String(frames - 1);
    if (film.force && byId("unit")) byId("unit").textContent = `${figure(film.force, 3)} N`;
    speeds();
    offers();
  };

  const dot = (a, b) => a.reduce((sum, x, k) => sum + x * b[k], 0);
  const add = (a, b, s = 1) => a.map((x, k) => x + s * b[k]);
  const norm = (a) => Math.sqrt(dot(a, a));
  const fit = () => {
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    canvas.width = Math.round(canvas.clientWidth * ratio); canvas.height = Math.round(canvas.clientHeight * ratio);
  };
  const draw = (share = 0) => stage.draw(frame, share, film.contactsAt(frame));

  // --- time line ----------------------------------------------------------------------------------------------
  const HATCH = { MULTIPLE: [6], CONTINUUM: [4, -4], NONE: [3], UNDECIDED: [9, -9] };
  const line = () => {
    const ratio = Math.min(window.devicePixelRatio || 1, 2), w = strip.clientWidth, h = strip.clientHeight;
    strip.width = Math.round(w * ratio); strip.height = Math.round(h * ratio);
    const ink = strip.getContext("2d"), x = (t) => w * (t - first) / duration;
    ink.setTransform(ratio, 0, 0, ratio, 0, 0);
    for (const [label, from, to] of film.outcomes) {
      const left = x(from), wide = Math.max(x(to) - left, 1.5);
      ink.fillStyle = OUTCOME[label] || SOFT;
      ink.fillRect(left, 0, wide, h - 8);
      ink.save();
      ink.beginPath(); ink.rect(left, 0, wide, h - 8); ink.clip();
      ink.strokeStyle = "#1d273380"; ink.lineWidth = 1;
      for (const step of HATCH[label] || []) {
        for (let k = left - h; k < left + wide + h; k += Math.abs(step)) { ink.beginPath(); ink.moveTo(k, step > 0 ? h : 0); ink.lineTo(k + h, step > 0 ? 0 : h); ink.stroke(); }
      }
      ink.restore();
    }
    ink.fillStyle = INK;
    for (const [t] of film.events) { ink.beginPath(); ink.moveTo(x(t), h - 7); ink.lineTo(x(t) + 4, h); ink.lineTo(x(t) - 4, h); ink.fill(); }
    ink.fillRect(Math.min(Math.max(x(film.t[frame]) - 1, 0), w - 2), 0, 2, h);
  };

  // --- words --------------------------------------------------------------------------------------------------
  const figure = (x, digits = 4) => Number(x.toPrecision(digits)).toString();
  const outcome = (t) => (film.outcomes.find(([, from, to]) => t >= from && t < to) || film.outcomes[film.outcomes.length - 1] || [""])[0];
  const say = () => {
    const t = film.t[frame], label = outcome(t), before = frame ? film.t[frame - 1] : -Infinity;
    byId("now").textContent = `t = ${figure(t, 5)} s${label && label !== "NOT_EXAMINED" ? ` · ${label}` : ""}`;
    const happened = film.events.filter(([at]) => at > before && at <= t).map(([, kind, id]) => `${kind} ${id}`);
    byId("happens").textContent = happened.slice(0, 3).join(", ") + (happened.length > 3 ? ", …" : "");
    const body = byId("acting"), acting = film.contactsAt(frame), lines = acting.slice(0, 8);
    body.replaceChildren(...lines.map(([which, mode, , normal, force]) => {
      const row = document.createElement("tr"), push = dot(force, normal), rub = norm(add(force, normal, -push)), mu = film.mu[which];
      const share = mu && push > 0 ? `${Math.round(100 * rub / (mu * push))} %` : "–";
      for (const text of [film.ids[which].replace(/[./:]/g, "$&\u200b"), film.modes[mode], figure(push), figure(rub), share]) {
        const cell = document.createElement("td");
        cell.textContent = text;
        row.append(cell);
      }
      return row;
    }));
    const more = acting.length - lines.length;
    byId("more").textContent = more > 0 ? `and ${more} more` : "";
  };
  const cursors = () => {
    for (const chart of document.querySelectorAll(".js-plotly-plot")) {
      const layout = chart._fullLayout, axis = layout && layout.xaxis;
      if (!axis || !axis.l2p) continue;
      let mark = chart.querySelector(".cursor");
      if (!mark) { mark = document.createElement("div"); mark.className = "cursor"; chart.style.position = "relative"; chart.append(mark); }
      const x = axis.l2p(film.t[frame]);
      mark.style.display = x >= 0 && x <= axis._length ? "block" : "none";
      mark.style.left = `${axis._offset + x}px`;
      mark.style.top = `${layout._size.t}px`;
      mark.style.height = `${layout._size.h}px`;
    }
  };

  // Says what was picked: its name, where it is, how it is turned, and the sum of what its contacts do to it.
  const describe = () => {
    const words = byId("picked");
    if (!space || !words) return;
    const k = space.state.picked;
    words.hidden = k < 0;
    if (k < 0) return;
    const track = film.shapes[k], moment = { frame, share: 0 }, turn = space.value(track, "turn", moment), sum = [0, 0, 0];
    const names = [track.name, track.name.split(".")[0]];
    const at = space.value(track, "at", moment) || space.middle({ ends: space.value(track, "ends", moment) });
    let count = 0;
    for (const [which, , , , force] of film.contactsAt(frame)) {
      const [one, other] = film.between[which].map((name) => names.includes(name) || names.includes(name.split(".")[0]));
      if (one === other || force.length < 3) continue;
      count += 1;
      for (let j = 0; j < 3; j += 1) sum[j] += one ? force[j] : -force[j];
    }
    const list = (x, digits) => `(${Array.from(x).map((one) => figure(one, digits)).join(", ")})`;
    words.textContent = `${track.name} (${track.shape}) · at ${list(at, 4)} m${turn ? ` · turn ${list(turn, 3)}` : ""}`
      + ` · ${count ? `${count} contact${count > 1 ? "s" : ""}, force ${list(sum, 4)} N` : "no contact"}`;
  };

  // --- playing ------------------------------------------------------------------------------------------------
  const show = (k) => {
    frame = Math.min(Math.max(k, 0), frames - 1);
    slider.value = String(frame);
    slider.setAttribute("aria-valuetext", `t = ${figure(film.t[frame], 5)} s`);
    draw(); line(); say(); cursors(); describe();
  };
  const at = (t) => {
    let low = 0, high = frames - 1;
    while (low < high) { const middle = (low + high + 1) >> 1; if (film.t[middle] <= t) low = middle; else high = middle - 1; }
    return low;
  };
  const label = () => {
    play.textContent = playing ? "❚❚ Pause" : "▶ Play";
    play.setAttribute("aria-pressed", String(playing));
  };
  const run = (on) => {
    if (on && frame === frames - 1) show(0);
    playing = on; clock = film.t[frame];
    label();
    if (on) { let before = performance.now(); const tick = (now) => {
      if (!playing) return;
      clock += speed * (now - before) / 1000; before = now;
      const k = at(clock);
      if (k !== frame) show(k);
      if (space && k < frames - 1) draw((clock - film.t[k]) / (film.t[k + 1] - film.t[k]));
      if (clock >= last) { show(frames - 1); playing = false; label(); return; }
      requestAnimationFrame(tick);
    }; requestAnimationFrame(tick); }
  };
  const step = (by) => { run(false); show(frame + by); };
  const zoom = (by) => { zoomed = true; view.zoom = Math.min(Math.max(view.zoom * by, 0.5), 64); draw(); };

  const KEYS = {
    " ": () => run(!playing), ArrowRight: (e) => step(e.shiftKey ? 10 : 1), ArrowLeft: (e) => step(e.shiftKey ? -10 : -1),
    Home: () => step(-frames), End: () => step(frames), "+": () => zoom(1.5), "-": () => zoom(1 / 1.5),
    f: () => { if (space) { space.state.follow = space.state.follow === space.state.picked ? -1 : space.state.picked; draw(); } },
    Escape: () => { if (space) { space.state.picked = space.state.follow = -1; draw(); describe(); } },
  };
  // Keys act on the whole page, but for what has the focus and needs them itself: fields, lists, tables that scroll.
  const needs = (focus, key) => {
    if (focus === slider) return false;
    if (focus.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(focus.tagName)) return true;
    if (["BUTTON", "SUMMARY"].includes(focus.tagName)) return key === " ";
    return key !== "+" && key !== "-" && focus.closest("[tabindex], .scroll, pre") !== null;
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in KEYS) || needs(event.target, event.key)) return;
    event.preventDefault();
    KEYS[event.key](event);
  });
  play.addEventListener("click", () => run(!playing));
  byId("back").addEventListener("click", () => step(-1));
  byId("forth").addEventListener("click", () => step(1));
  byId("nearer").addEventListener("click", () => zoom(1.5));
  byId("farther").addEventListener("click", () => zoom(1 / 1.5));
  slider.addEventListener("input", () => { run(false); show(Number(slider.value)); });
  strip.addEventListener("pointerdown", (event) => { run(false); show(at(first + duration * event.offsetX / strip.clientWidth)); });
  const speeds = () => {
    if (choice.dataset.chosen) return;
    const natural = frames > 1 ? duration / Math.min(Math.max(duration, 4), 12) : 1;
    speed = natural;
    choice.replaceChildren(...[...new Set([0.1, 0.3, 1, 3].map((f) => Number((f * natural).toPrecision(2))))].map((factor) => {
      const option = document.createElement("option");
      option.value = String(factor); option.textContent = `${figure(factor, 2)} × real time`;
      option.selected = factor === Number(natural.toPrecision(2));
      return option;
    }));
  };
  choice.addEventListener("change", () => { speed = Number(choice.value); choice.dataset.chosen = "yes"; });
  const turns = () => {
    let moved = 0;
    canvas.classList.add("turns");
    canvas.addEventListener("pointerdown", () => { moved = 0; });
    canvas.addEventListener("pointermove", (event) => {
      if (!event.buttons) return;
      moved += Math.abs(event.movementX) + Math.abs(event.movementY);
      view.turn -= event.movementX / 150;
      view.tilt = Math.min(Math.max(view.tilt + event.movementY / 150, -1.5), 1.5);
      draw();
    });
    canvas.addEventListener("click", (event) => {
      if (!space || moved > 6) return;
      space.pick(event.offsetX / canvas.clientWidth, event.offsetY / canvas.clientHeight);
      draw(); describe();
    });
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !document.body.classList.contains("whole")) return; // a page scrolls; a view zooms
      event.preventDefault();
      zoom(Math.exp(-event.deltaY / 400));
    }, { passive: false });
  };
  const boxes = document.querySelectorAll("#shown input");
  const offers = () => {
    for (const box of boxes) {
      const offered = space && (!(box.name in space.extras) || space.extras[box.name]) && (film.ids.length || !["forces", "cones"].includes(box.name));
      box.parentNode.hidden = !offered;
      if (space) box.checked = space.shown[box.name];
    }
  };
  for (const box of boxes) box.addEventListener("change", () => { if (space) { space.shown[box.name] = box.checked; draw(); } });
  // A longer film of the same run: goes on at its end if that was shown, else where it was.
  const take = async (text) => {
    const t = film.t[frame], follows = frame === frames - 1 && !playing;
    load(await gaussdynFilm(text));
    show(follows ? frames - 1 : at(t));
  };
  load(await gaussdynFilm(source.textContent));
  if (film.space) turns();
  new ResizeObserver(() => { fit(); show(frame); }).observe(canvas);
  window.addEventListener("load", () => setTimeout(() => show(frame), 0));
  window.addEventListener("resize", () => setTimeout(cursors, 100));
  fit(); label(); show(0);
  window.gaussdynPlayer = { show, step, run, take, frame: () => frame, playing: () => playing, get space() { return space; }, get film() { return film; } };
})();
