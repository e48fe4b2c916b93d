// A film of bodies in space on a canvas that can be turned: bodies, joints, contacts, trails, the mass centre.
const gaussdynStage = (canvas, film, view) => {
  const renderer = gaussdynRenderer(canvas);
  if (!renderer) return null;
  const { dot, cross, add, unit, rotation, along, times, looking, perspective, parallel, met } = gaussdynSpace;
  const { solid, unit: MESH } = gaussdynMeshes;
  const hex = (text) => [1, 3, 5].map((k) => (parseInt(text.slice(k, k + 2), 16) / 255));
  const BODY = ["#3f8fce", "#e0a03a", "#35a384", "#cf86b0", "#78bde6", "#a98a4a", "#8795a3"].map(hex);
  const MODE = { stick: hex("#0072b2"), slip: hex("#d55e00") }, OTHER = hex("#5b6b7a"), STILL = hex("#aeb8c2");
  const SLOPE = Math.tan(Math.PI / 10), SUN = unit([-0.5, -0.42, 1.1]), NO_TURN = [1, 0, 0, 0], UPRIGHT = [1, 0, 0, 0, 1, 0, 0, 0, 1];
  const size = Math.max(...film.half), whole = Math.hypot(...film.half);
  const shown = { forces: true, cones: true, joints: true, trails: false, centre: false };
  const state = { picked: -1, follow: -1, cost: 0 };

  // --- what there is ------------------------------------------------------------------------------------------
  const names = [...new Set(film.shapes.map((track) => track.name.split(".")[0]))];
  const moves = (track) => film.t.length < 2 || ["at", "ends", "points", "turn"].some((key) => key in track.moving);
  const colours = film.shapes.map((track) => (track.fixed.colour ? track.fixed.colour.slice(0, 3) : moves(track) ? BODY[names.indexOf(track.name.split(".")[0]) % BODY.length] : STILL));
  const planes = film.shapes.map((track, k) => (track.shape === "plane" ? k : -1)).filter((k) => k >= 0);
  const upright = (k) => (film.shapes[k].fixed.normal ? film.shapes[k].fixed.normal[2] : 0);
  const ground = planes.length ? planes.reduce((a, b) => (upright(b) > upright(a) ? b : a)) : -1;
  const REACH = 9 * whole, cell = (() => {
    const wanted = whole / 4, ten = 10 ** Math.floor(Math.log10(wanted));
    return ten * ([5, 2].find((k) => k * ten <= wanted) || 1);
  })();

  const batches = {
    box: renderer.batch(MESH.box), ball: renderer.batch(MESH.ball, 2), tube: renderer.batch(MESH.tube), tip: renderer.batch(MESH.tip),
    ground: renderer.batch(MESH.ground, 1), wall: renderer.batch(MESH.ground, 0, true), cone: renderer.batch(MESH.cone, 0, true),
  };
  film.shapes.forEach((track, k) => {
    if (track.fixed.corners && track.fixed.faces) batches[k] = renderer.batch(solid(track.fixed.corners, track.fixed.faces));
  });
  const all = Object.values(batches);
  const put = (name, R, at, [a, b, c], colour, owner = -1, opacity = 1) => {
    const one = batches[name], k = 16 * one.count;
    if (k + 16 > one.data.length) { const more = new Float32Array(2 * one.data.length); more.set(one.data); one.data = more; }
    const light = owner >= 0 && owner === state.picked ? 0.45 : 0;
    one.data.set([R[0] * a, R[1] * b, R[2] * c, at[0], R[3] * a, R[4] * b, R[5] * c, at[1], R[6] * a, R[7] * b, R[8] * c, at[2],
      colour[0] + light * (1 - colour[0]), colour[1] + light * (1 - colour[1]), colour[2] + light * (1 - colour[2]), opacity], k);
    one.owner[one.count] = owner;
    one.count += 1;
  };
  const rod = (a, b, radius, colour, owner) => {
    const way = add(b, a, -1), long = Math.hypot(...way);
    if (long > 0) put("tube", along(way), add(a, way, 0.5), [radius, radius, long / 2], colour, owner);
  };

  // --- where it is --------------------------------------------------------------------------------------------
  // An attribute at a moment between two frames; turns and lengths stay as long as they are. Null: not there.
  const value = (track, key, { frame, share }) => {
    const column = track.moving[key];
    if (!column) return track.fixed[key];
    if (Array.isArray(column)) return column[frame];
    const { values: { data, width }, there } = column, next = Math.min(frame + 1, film.t.length - 1);
    if (there && !there.data[frame]) return null;
    const s = share && !(there && !there.data[next]) ? share : 0, found = new Array(width);
    const i = frame * width, j = next * width;
    let sign = 1;
    if (s && key === "turn") { let sum = 0; for (let k = 0; k < 4; k += 1) sum += data[i + k] * data[j + k]; sign = Math.sign(sum) || 1; }
    for (let k = 0; k < width; k += 1) found[k] = (1 - s) * data[i + k] + s * sign * data[j + k];
    if (column.shape.length === 0) return found[0];
    return column.shape.length === 2 ? Array.from({ length: column.shape[0] }, (_, k) => found.slice(k * column.shape[1], (k + 1) * column.shape[1])) : found;
  };
  const middle = (s) => s.at || s.ends[0].map((x, k) => (x + s.ends[1][k]) / 2);

  const DOT = 0.014 * whole, THIN = 0.006 * whole;
  const DRAW = {
    box: (s, R, c, k) => put("box", R, s.at, s.half, c, k),
    sphere: (s, R, c, k) => { const r = s.radius || DOT; put("ball", R, s.at, [r, r, r], c, k); },
    ellipsoid: (s, R, c, k) => put("ball", R, s.at, s.half, c, k),
    cylinder: (s, R, c, k) => put("tube", R, s.at, [s.radius, s.radius, s.half_length], c, k),
    capsule: (s, R, c, k) => {
      const r = s.radius || THIN, axis = [R[2], R[5], R[8]];
      put("tube", R, s.at, [r, r, s.half_length], c, k);
      for (const end of [1, -1]) put("ball", R, add(s.at, axis, end * s.half_length), [r, r, r], c, k);
    },
    segment: (s, R, c, k) => rod(s.ends[0], s.ends[1], THIN, c, k),
    plane: (s, R, c, k) => {
      const n = unit(s.normal), foot = add(film.middle, n, -dot(n, add(film.middle, s.at, -1))), reach = k === ground ? REACH : 1.1 * whole;
      put(k === ground ? "ground" : "wall", along(n), foot, [reach, reach, 1], k === ground ? [0.9, 0.915, 0.93] : STILL, k, k === ground ? 1 : 0.12);
    },
  };
  const body = (track, k, moment) => {
    const s = { ...track.fixed };
    for (const key of Object.keys(track.moving)) { s[key] = value(track, key, moment); if (s[key] === null) return; }
    const R = s.turn ? rotation(s.turn) : UPRIGHT, colour = colours[k];
    if (k in batches) put(k, R, s.at, [1, 1, 1], colour, k);
    else if (DRAW[track.shape]) DRAW[track.shape](s, R, colour, k);
    else if (s.at && s.at.length === 3) put("ball", R, s.at, [DOT, DOT, DOT], colour, k);
  };

  const joint = (track, moment) => {
    if (track.shape === "segment") { const [a, b] = value(track, "ends", moment); rod(a, b, THIN, OTHER); return; }
    const at = value(track, "at", moment), axis = value(track, "axis", moment), r = 0.35 * (film.span || size) * 0.12, kind = track.fixed.kind;
    if (!at) return;
    if (kind.startsWith("ball") || kind === "universal") put("ball", UPRIGHT, at, [r, r, r], [0.25, 0.28, 0.32]);
    else if (kind.startsWith("slide")) put("box", along(axis), at, [0.6 * r, 0.6 * r, 2 * r], [0.25, 0.28, 0.32]);
    else put("tube", along(axis), at, [0.7 * r, 0.7 * r, 1.6 * r], [0.25, 0.28, 0.32]);
  };
  const contact = ([which, mode, at, normal, force]) => {
    const colour = MODE[film.modes[mode]] || OTHER, mu = film.mu[which], big = Math.hypot(...force), thick = 0.028 * film.length;
    if (shown.cones && mu) {
      const tall = film.length / Math.hypot(1, mu);
      put("cone", along(normal), at, [mu * tall, mu * tall, tall], colour, -1, 0.2);
    }
    if (!shown.forces || !big || !film.force) return;
    const long = film.length * Math.min(big / film.force, 1.4), way = unit(force), head = Math.min(0.3 * film.length, long);
    rod(at, add(at, way, long - head), thick, colour);
    put("tip", along(way), add(at, way, long - head), [2.4 * thick, 2.4 * thick, head], colour);
  };

  // --- trails -------------------------------------------------------------------------------------------------
  const trails = film.shapes.map((track, k) => {
    const at = track.moving.at;
    return at && at.values && at.values.width === 3 && !at.there ? { array: renderer.line(at.values.data), ink: [...colours[k], 0.9], k } : null;
  }).filter(Boolean);
  const path = film.centre ? { array: renderer.line(film.centre.data), ink: [0.1, 0.12, 0.15, 0.9], k: -1 } : null;
  shown.trails = trails.length <= 6;
  const drawn = (frame) => {
    const some = trails.filter(({ k }) => shown.trails || (k >= 0 && k === state.picked));
    return [...some, ...(path && shown.centre ? [path] : [])].map((one) => ({ ...one, start: 0, count: frame + 1 }));
  };

  // --- camera -------------------------------------------------------------------------------------------------
  const camera = (moment) => {
    const [ct, st, ce, se] = [Math.cos(view.turn), Math.sin(view.turn), Math.cos(view.tilt), Math.sin(view.tilt)];
    let target = film.middle;
    const followed = state.follow >= 0 ? [state.follow] : view.zoom > 1 ? film.shapes.map((_, k) => k).filter((k) => moves(film.shapes[k])) : [];
    const places = followed.map((k) => value(film.shapes[k], "at", moment)).filter((p) => p && p.length === 3);
    if (places.length) target = places.reduce((sum, p) => add(sum, p, 1 / places.length), [0, 0, 0]);
    const aspect = canvas.width / Math.max(canvas.height, 1), distance = 1.02 * whole / (Math.sin(Math.atan(SLOPE)) * Math.min(1, aspect)) / view.zoom;
    const towards = [ct * ce, st * ce, se], eye = add(target, towards, distance), right = [-st, ct, 0];
    const far = distance + 2 * REACH, reach = Math.min(1.25 * whole, 1.2 * distance * SLOPE + 0.2 * whole);
    return {
      eye, target, towards: SUN, right, up: cross(towards, right), aspect, cells: REACH / cell,
      camera: times(perspective(SLOPE, aspect, 0.02 * distance, far), looking(eye, target, [0, 0, 1])),
      sun: times(parallel(reach, 4 * whole), looking(add(target, SUN, whole), target, [0, 1, 0])),
    };
  };

  let seen = null;
  const draw = (frame, share, contacts) => {
    const start = performance.now(), moment = { frame, share };
    for (const one of all) one.count = 0;
    film.shapes.forEach((track, k) => body(track, k, moment));
    if (shown.joints) for (const track of film.joints) joint(track, moment);
    contacts.forEach(contact);
    if (shown.centre && film.centre) {
      const at = Array.from(film.centre.data.subarray(3 * frame, 3 * frame + 3)), r = 1.6 * DOT;
      put("ball", UPRIGHT, at, [r, r, r], [0.98, 0.85, 0.1]);
    }
    seen = camera(moment);
    renderer.render(seen, all, drawn(frame));
    state.cost = performance.now() - start;
  };
  // The shape under a point of the canvas (shares of its width and height from the upper left), or -1.
  const pick = (x, y) => {
    if (!seen) return -1;
    const { eye, target, right, up, aspect } = seen, front = unit(add(target, eye, -1));
    const way = unit(add(add(front, right, (2 * x - 1) * SLOPE * aspect), up, (1 - 2 * y) * SLOPE));
    const hits = all.filter((one) => !one.clear && one.kind !== 1).map((one) => met(one, eye, way)).filter((hit) => hit && hit.owner >= 0);
    hits.sort((a, b) => a.distance - b.distance);
    state.picked = hits.length ? hits[0].owner : -1;
    return state.picked;
  };
  return { draw, pick, shown, state, value, middle, extras: { joints: film.joints.length > 0, centre: !!film.centre, trails: trails.length > 0 } };
};
