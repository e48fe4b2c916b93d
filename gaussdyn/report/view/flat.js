// A film on a canvas as a flat drawing: planar systems, and systems in space where there is no WebGL.
const gaussdynFlat = (canvas, film, view) => {
  const INK = "#1d2733", SOFT = "#5b6b7a", GROUND = "#dfe4e9", STILL = "#8c98a4";
  const BODY = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#8c6d1f", "#5b6b7a"];
  const MODE = { stick: "#0072b2", slip: "#d55e00" };
  let pen, frame = 0, width = 0, height = 0, scale = 1, centre = [0, 0];

  // --- geometry -----------------------------------------------------------------------------------------------
  const dot = (a, b) => a.reduce((sum, x, k) => sum + x * b[k], 0);
  const add = (a, b, s = 1) => a.map((x, k) => x + s * b[k]);
  const norm = (a) => Math.sqrt(dot(a, a));
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const unit = (a) => a.map((x) => x / (norm(a) || 1));
  const rotate = ([w, x, y, z], p) => {
    const v = [x, y, z], c = cross(v, p);
    return add(p, add(c.map((a) => 2 * w * a), cross(v, c), 2));
  };
  const axes = () => {
    const [ct, st, ce, se] = [Math.cos(view.turn), Math.sin(view.turn), Math.cos(view.tilt), Math.sin(view.tilt)];
    const towards = [ct * ce, st * ce, se], right = [-st, ct, 0];
    return [right, cross(towards, right), towards];
  };
  let camera = axes();
  const seen = (p) => film.space ? camera.map((axis) => dot(axis, p.length === 3 ? p : [p[0], p[1], 0])) : [p[0], p[1], 0];
  const screen = (p) => {
    const s = seen(p);
    return [width / 2 + scale * (s[0] - centre[0]), height / 2 - scale * (s[1] - centre[1]), s[2]];
  };
  const across = (n) => {
    const u = unit(cross(n, Math.abs(n[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0]));
    return [u, cross(n, u)];
  };
  const ring = (at, u, v, radius, count = 40) => Array.from({ length: count }, (_, k) => {
    const a = 2 * Math.PI * k / count;
    return add(add(at, u, radius * Math.cos(a)), v, radius * Math.sin(a));
  });
  const size = Math.max(...film.half);
  const span = film.span, length = film.length;  // m: of the largest body, of a cone
  const room = film.half.map((x) => x + 0.16 * size);  // half sides of what must be seen: in the plane cones too
  for (const [which, , at, normal] of film.space ? [] : film.t.flatMap((_, k) => film.contactsAt(k))) {
    const mu = film.mu[which] || 0, tall = length / Math.hypot(1, mu), side = [normal[1], -normal[0]];
    for (const sign of [1, -1]) {
      const corner = add(add(at, normal, tall), side, sign * mu * tall);
      corner.forEach((x, k) => { room[k] = Math.max(room[k], Math.abs(x - film.middle[k]) + 0.03 * size); });
    }
  }

  // --- painting -----------------------------------------------------------------------------------------------
  const path = (points, { fill, stroke, line = 1.5, closed = true, dash = [] }) => {
    pen.beginPath();
    points.forEach(([x, y], k) => k ? pen.lineTo(x, y) : pen.moveTo(x, y));
    if (closed) pen.closePath();
    if (fill) { pen.fillStyle = fill; pen.fill(); }
    if (stroke) { pen.setLineDash(dash); pen.strokeStyle = stroke; pen.lineWidth = line; pen.stroke(); pen.setLineDash([]); }
  };
  const disc = (x, y, radius, style) => {
    pen.beginPath();
    pen.arc(x, y, Math.max(radius, 0.5), 0, 2 * Math.PI);
    if (style.fill) { pen.fillStyle = style.fill; pen.fill(); }
    if (style.stroke) { pen.strokeStyle = style.stroke; pen.lineWidth = style.line || 1.5; pen.stroke(); }
  };
  const hull = (points) => {
    const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    const half = (list) => list.reduce((found, p) => {
      while (found.length > 1) {
        const [a, b] = found.slice(-2);
        if ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > 0) break;
        found.pop();
      }
      return [...found, p];
    }, []);
    return [...half(sorted).slice(0, -1), ...half(sorted.reverse()).slice(0, -1)];
  };
  const shaded = (colour, light) => {
    const part = (k) => Math.round(255 - (255 - parseInt(colour.slice(k, k + 2), 16)) * light);
    return `rgb(${part(1)},${part(3)},${part(5)})`;
  };
  const PAINT = {
    point: (s, colour) => { const [x, y] = screen(s.at); disc(x, y, 6, { fill: colour, stroke: "#fff" }); },
    segment: (s, colour) => {
      path(s.ends.map(screen), { stroke: colour, line: 4, closed: false });
    },
    polygon: (s, colour) => path(s.points.map(screen), { fill: shaded(colour, 0.4), stroke: colour, line: 2 }),
    disc: (s, colour) => {
      const [x, y] = screen(s.at), end = screen([s.at[0] + s.radius * Math.cos(s.angle || 0), s.at[1] + s.radius * Math.sin(s.angle || 0)]);
      disc(x, y, scale * s.radius, { fill: shaded(colour, 0.4), stroke: colour, line: 2 });
      path([[x, y], end], { stroke: colour, line: 2, closed: false });
    },
    halfplane: (s) => {
      const n = unit(s.normal), along = [n[1], -n[0]], far = (width + height) / scale + norm(add(s.at, centre, -1));
      const a = add(s.at, along, -far), b = add(s.at, along, far);
      path([a, b, add(b, n, -2 * far), add(a, n, -2 * far)].map(screen), { fill: GROUND });
      path([a, b].map(screen), { stroke: SOFT, line: 2, closed: false });
    },
    plane: (s) => {
      const n = unit(s.normal), [u, v] = across(n);
      const at = add(film.middle, n, -dot(n, add(film.middle, s.at, -1))), reach = 1.6 * size;
      path([[1, 1], [1, -1], [-1, -1], [-1, 1]].map(([a, b]) => screen(add(add(at, u, a * reach), v, b * reach))), { fill: "#e9edf1" });
      const lines = 4 * Math.min(Math.ceil(view.zoom), 12);
      for (let k = -lines; k <= lines; k += 1) {
        for (const [one, other] of [[u, v], [v, u]]) {
          const foot = add(at, one, k * reach / lines);
          path([screen(add(foot, other, -reach)), screen(add(foot, other, reach))], { stroke: "#cfd6dd", line: 1, closed: false });
        }
      }
    },
    sphere: (s, colour) => {
      const [x, y] = screen(s.at), r = scale * s.radius;
      disc(x, y, r, { fill: shaded(colour, 0.45), stroke: colour, line: 1.5 });
      for (const pair of [[0, 1], [1, 2]]) {
        const [u, v] = pair.map((k) => rotate(s.turn, [0, 0, 0].map((_, j) => +(j === k))));
        const front = ring(s.at, u, v, s.radius, 48).map((p) => (seen(p)[2] >= seen(s.at)[2] ? screen(p) : null));
        strokes(front, colour);
      }
    },
    capsule: (s, colour) => {
      const axis = rotate(s.turn, [0, 0, 1]), ends = [1, -1].map((sign) => screen(add(s.at, axis, sign * s.half_length)));
      const rim = ends.flatMap(([x, y]) => Array.from({ length: 36 }, (_, k) => [x + scale * s.radius * Math.cos(k * Math.PI / 18), y + scale * s.radius * Math.sin(k * Math.PI / 18)]));
      path(hull(rim), { fill: shaded(colour, 0.45), stroke: colour });
      const u = rotate(s.turn, [1, 0, 0]), v = rotate(s.turn, [0, 1, 0]);
      for (const sign of [1, -1]) {
        const at = add(s.at, axis, sign * s.half_length);
        strokes(ring(at, u, v, s.radius, 36).map((p) => (seen(p)[2] >= seen(at)[2] ? screen(p) : null)), colour);
      }
    },
    ellipsoid: (s, colour) => {
      const axes = [0, 1, 2].map((k) => rotate(s.turn, [0, 0, 0].map((_, j) => +(j === k) * s.half[k])));
      const far = (e) => {
        const m = axes.map((axis) => dot(axis, e)), k = Math.hypot(...m);
        return axes.reduce((p, axis, j) => add(p, axis, m[j] / k), s.at);
      };
      const rim = Array.from({ length: 72 }, (_, k) => far(add(camera[0].map((x) => x * Math.cos(k * Math.PI / 36)), camera[1], Math.sin(k * Math.PI / 36))));
      path(rim.map(screen), { fill: shaded(colour, 0.45), stroke: colour });
      for (const [u, v] of [[axes[0], axes[1]], [axes[1], axes[2]], [axes[2], axes[0]]]) {
        strokes(ring(s.at, u, v, 1, 72).map((p) => (seen(p)[2] >= seen(s.at)[2] ? screen(p) : null)), colour);
      }
    },
    cylinder: (s, colour) => {
      const [u, v, axis] = [0, 1, 2].map((k) => rotate(s.turn, [0, 0, 0].map((_, j) => +(j === k))));
      const [back, front] = [-1, 1].map((side) => ring(add(s.at, axis, (dot(camera[2], axis) > 0 ? side : -side) * s.half_length), u, v, s.radius, 48).map(screen));
      path(hull([...back, ...front]), { fill: shaded(colour, 0.45), stroke: colour });
      path(front, { fill: shaded(colour, 0.35), stroke: colour });
      path([front[0], front[24]], { stroke: colour, line: 1, closed: false });
    },
    solid: (s, colour) => {
      const corners = s.corners.map((p) => add(s.at, rotate(s.turn, p)));
      const far = (loop) => loop.reduce((sum, k) => sum + dot(camera[2], corners[k]) / loop.length, 0);
      for (const loop of s.ground ? [...s.faces].sort((a, b) => far(a) - far(b)) : s.faces) {
        const [a, b, c] = loop.map((k) => corners[k]), n = unit(cross(add(b, a, -1), add(c, b, -1)));
        if (dot(camera[2], n) > 0) path(loop.map((k) => screen(corners[k])), { fill: shaded(colour, 0.35 + 0.35 * Math.abs(dot(camera[0], n))), stroke: colour, line: 1 });
      }
    },
    box: (s, colour) => {
      for (let k = 0; k < 3; k += 1) {
        const axis = rotate(s.turn, [0, 0, 0].map((_, j) => +(j === k))), side = dot(camera[2], axis) > 0 ? 1 : -1;
        const corners = [[1, 1], [1, -1], [-1, -1], [-1, 1]].map(([a, b]) => {
          const p = [a, b];
          p.splice(k, 0, side);
          return screen(add(s.at, rotate(s.turn, p.map((x, j) => x * s.half[j]))));
        });
        path(corners, { fill: shaded(colour, 0.35 + 0.35 * Math.abs(dot(camera[0], axis))), stroke: colour });
      }
    },
  };
  const strokes = (points, colour) => {
    let piece = [];
    for (const p of [...points, points[0], null]) {
      if (p) { piece.push(p); continue; }
      if (piece.length > 1) path(piece, { stroke: colour, line: 1, closed: false });
      piece = [];
    }
  };
  const cone = ([which, mode, at, normal]) => {
    const mu = film.mu[which], colour = MODE[film.modes[mode]] || SOFT, tall = length / Math.hypot(1, mu || 0);
    const tip = add(at, normal, tall);
    if (!mu) { path([screen(at), screen(tip)], { stroke: SOFT, line: 1, dash: [4, 3], closed: false }); return; }
    if (at.length === 2) {
      const side = [normal[1], -normal[0]];
      path([at, add(tip, side, mu * tall), add(tip, side, -mu * tall)].map(screen), { fill: colour + "2a", stroke: colour + "90", line: 1 });
      return;
    }
    const rim = ring(tip, ...across(normal), mu * tall, 32).map(screen);
    path(hull([screen(at), ...rim]), { fill: colour + "2a", stroke: colour + "70", line: 1 });
    path(rim, { stroke: colour + "90", line: 1 });
  };
  const arrow = ([, mode, at, , force]) => {
    const colour = MODE[film.modes[mode]] || INK, big = norm(force);
    if (!big || !film.force) return;
    const long = length * Math.min(big / film.force, 1.4), a = screen(at), b = screen(add(at, unit(force), long));
    const way = unit([b[0] - a[0], b[1] - a[1]]), side = [way[1], -way[0]], head = Math.min(10, Math.hypot(b[0] - a[0], b[1] - a[1]));
    path([a, add(b.slice(0, 2), way, -head / 2)], { stroke: colour, line: 3, closed: false });
    path([b.slice(0, 2), add(add(b.slice(0, 2), way, -head), side, head / 2.2), add(add(b.slice(0, 2), way, -head), side, -head / 2.2)], { fill: colour });
  };
  const mark = ([, mode, at]) => {
    const [x, y] = screen(at), name = film.modes[mode], colour = MODE[name] || SOFT;
    disc(x, y, 4, name === "stick" ? { fill: colour, stroke: "#fff", line: 1 } : { fill: "#fff", stroke: colour, line: 2 });
  };

  const nested = (numbers, [count, ...rest]) => (count === undefined ? numbers[0] : rest.length === 0 ? Array.from(numbers)
    : Array.from({ length: count }, (_, k) => nested(numbers.subarray(k * numbers.length / count, (k + 1) * numbers.length / count), rest)));
  const pose = (track) => {
    const found = { ...track.fixed };
    for (const [key, column] of Object.entries(track.moving)) {
      if (Array.isArray(column)) found[key] = column[frame];
      else if (column.there && !column.there.data[frame]) return null;
      else found[key] = nested(column.values.data.subarray(frame * column.values.width, (frame + 1) * column.values.width), column.shape);
      if (found[key] === null) return null;
    }
    return found;
  };
  const place = (s) => s.at || (s.ends || s.points).reduce((sum, p, _, all) => add(sum, p, 1 / all.length), (s.ends || s.points)[0].map(() => 0));
  const moves = film.shapes.map((track) => ["at", "ends", "points"].some((key) => key in track.moving));
  const colours = (() => {
    const body = (track) => track.name.split(".")[0], hex = (x) => Math.round(255 * x).toString(16).padStart(2, "0");
    const bodies = [...new Set(film.shapes.map(body))];
    return film.shapes.map((track) => (track.fixed.colour ? `#${track.fixed.colour.slice(0, 3).map(hex).join("")}` : track.fixed.still ? STILL : BODY[bodies.indexOf(body(track)) % BODY.length]));
  })();

  const fit = () => {
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    width = canvas.clientWidth; height = canvas.clientHeight;
    pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  };
  const aim = (drawn) => {
    const reach = film.space ? [norm(room), norm(room)] : room;
    scale = view.zoom * Math.min(width / (2 * reach[0]), height / (2 * reach[1]));
    centre = seen(film.middle).slice(0, 2);
    const moving = drawn.filter(([s, k]) => s && moves[k]).map(([s]) => seen(place(s)));
    if (view.zoom > 1 && moving.length) centre = [0, 1].map((k) => moving.reduce((sum, p) => sum + p[k], 0) / moving.length);
  };
  const draw = (which, share, acting) => {
    frame = which;
    fit();
    camera = axes();
    const drawn = film.shapes.map((track, k) => [pose(track), k, track.shape]);
    aim(drawn);
    pen.clearRect(0, 0, width, height);
    const rank = ([s, , kind]) => (kind === "plane" || kind === "halfplane" ? -Infinity : s.ground ? -1e300 : seen(place(s))[2]); // the ground never hides what is on it
    for (const [s, k, kind] of drawn.filter(([s]) => s).sort((a, b) => rank(a) - rank(b))) (PAINT[kind] || (s.at ? PAINT.point : () => 0))(s, colours[k]);
    acting.forEach(cone);
    acting.forEach(arrow);
    acting.forEach(mark);
  };

  return { draw };
};
