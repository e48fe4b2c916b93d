// Meshes of unit size: corners of triangles one after the other, six numbers each (place and normal).
const gaussdynMeshes = (() => {
  const AROUND = 24;
  const quad = (a, b, c, d) => [a, b, c, a, c, d];
  const flat = (corners) => new Float32Array(corners.flat());

  // A profile of (radius, height, normal out, normal up) turned about z.
  const turned = (profile) => {
    const corners = [], at = ([r, z, out, up], k) => {
      const c = Math.cos(2 * Math.PI * k / AROUND), s = Math.sin(2 * Math.PI * k / AROUND);
      return [r * c, r * s, z, out * c, out * s, up];
    };
    for (let j = 0; j + 1 < profile.length; j += 1) {
      for (let k = 0; k < AROUND; k += 1) corners.push(...quad(at(profile[j], k), at(profile[j], k + 1), at(profile[j + 1], k + 1), at(profile[j + 1], k)));
    }
    return flat(corners);
  };
  const arc = Array.from({ length: 13 }, (_, k) => {
    const a = Math.PI * (k / 12 - 0.5), c = Math.cos(a), s = Math.sin(a);
    return [c, s, c, s];
  });
  const joined = (...parts) => {
    const found = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
    parts.reduce((at, part) => { found.set(part, at); return at + part.length; }, 0);
    return found;
  };

  const box = () => {
    const corners = [];
    for (let k = 0; k < 3; k += 1) {
      for (const side of [1, -1]) {
        const at = (a, b) => {
          const p = [0, 0, 0], n = [0, 0, 0];
          p[k] = side; p[(k + 1) % 3] = a * side; p[(k + 2) % 3] = b;
          n[k] = side;
          return [...p, ...n];
        };
        corners.push(...quad(at(-1, -1), at(1, -1), at(1, 1), at(-1, 1)));
      }
    }
    return flat(corners);
  };

  // Faces with any number of corners, each flat and convex.
  const solid = (vertices, faces) => {
    const corners = [];
    for (const face of faces) {
      for (let k = 1; k + 1 < face.length; k += 1) {
        const [a, b, c] = [face[0], face[k], face[k + 1]].map((i) => vertices[i]);
        const u = [0, 1, 2].map((j) => b[j] - a[j]), v = [0, 1, 2].map((j) => c[j] - a[j]);
        const n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
        const size = Math.hypot(...n) || 1;
        for (const p of [a, b, c]) corners.push([...p, ...n.map((x) => x / size)]);
      }
    }
    return flat(corners);
  };

  return {
    solid,
    unit: {
      box: box(),
      ball: turned(arc),
      tube: joined(turned([[1, -1, 1, 0], [1, 1, 1, 0]]), turned([[1, 1, 0, 1], [0, 1, 0, 1]]), turned([[0, -1, 0, -1], [1, -1, 0, -1]])),
      tip: joined(turned([[1, 0, 0.9, 0.4], [0, 1, 0.9, 0.4]]), turned([[0, 0, 0, -1], [1, 0, 0, -1]])), // of an arrow
      cone: turned([[0, 0, 0.7, -0.7], [1, 1, 0.7, -0.7]]), // opens upwards
      ground: flat(quad([-1, -1, 0, 0, 0, 1], [1, -1, 0, 0, 0, 1], [1, 1, 0, 0, 0, 1], [-1, 1, 0, 0, 0, 1])),
    },
  };
})();
