// Arithmetic of places, turns and cameras in space.
const gaussdynSpace = (() => {
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const add = (a, b, s = 1) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
  const unit = (a) => { const size = Math.hypot(a[0], a[1], a[2]) || 1; return [a[0] / size, a[1] / size, a[2] / size]; };
  // Rows of the rotation of a quaternion (w, x, y, z).
  const rotation = ([w, x, y, z]) => {
    const s = 2 / (w * w + x * x + y * y + z * z || 1);
    return [
      1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y),
      s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x),
      s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y),
    ];
  };
  // Rows of a rotation whose third column is n.
  const along = (n) => {
    const w = unit(n), u = unit(cross(Math.abs(w[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0], w)), v = cross(w, u);
    return [u[0], v[0], w[0], u[1], v[1], w[1], u[2], v[2], w[2]];
  };
  // Matrices as WebGL has them: column after column.
  const times = (a, b) => {
    const found = new Float32Array(16);
    for (let i = 0; i < 4; i += 1) for (let j = 0; j < 4; j += 1) for (let k = 0; k < 4; k += 1) found[4 * j + i] += a[4 * k + i] * b[4 * j + k];
    return found;
  };
  const looking = (eye, target, up) => {
    const z = unit(add(eye, target, -1)), x = unit(cross(up, z)), y = cross(z, x);
    return new Float32Array([x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, -dot(x, eye), -dot(y, eye), -dot(z, eye), 1]);
  };
  const perspective = (slope, aspect, near, far) => new Float32Array([
    1 / (slope * aspect), 0, 0, 0, 0, 1 / slope, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, 2 * far * near / (near - far), 0,
  ]);
  const parallel = (half, depth) => new Float32Array([1 / half, 0, 0, 0, 0, 1 / half, 0, 0, 0, 0, -1 / depth, 0, 0, 0, 0, 1]);

  // Where a ray first meets one of the copies of a batch: {distance, owner}, or null.
  const met = (batch, from, way) => {
    let found = null;
    for (let k = 0; k < batch.count; k += 1) {
      const m = batch.data.subarray(16 * k, 16 * k + 12), o = [0, 0, 0], d = [0, 0, 0];
      for (let j = 0; j < 3; j += 1) {
        const c = [m[j], m[4 + j], m[8 + j]], size = dot(c, c);
        o[j] = dot(c, [from[0] - m[3], from[1] - m[7], from[2] - m[11]]) / size;
        d[j] = dot(c, way) / size;
      }
      for (let i = 0; i < batch.mesh.length; i += 18) {
        const t = crossed(batch.mesh, i, o, d);
        if (t > 0 && (!found || t < found.distance)) found = { distance: t, owner: batch.owner[k] };
      }
    }
    return found;
  };
  const crossed = (mesh, i, o, d) => {
    const a = [mesh[i], mesh[i + 1], mesh[i + 2]];
    const u = [mesh[i + 6] - a[0], mesh[i + 7] - a[1], mesh[i + 8] - a[2]], v = [mesh[i + 12] - a[0], mesh[i + 13] - a[1], mesh[i + 14] - a[2]];
    const p = cross(d, v), scale = dot(u, p);
    if (Math.abs(scale) < 1e-12) return -1;
    const s = add(o, a, -1), q = cross(s, u), x = dot(s, p) / scale, y = dot(d, q) / scale;
    return x < 0 || y < 0 || x + y > 1 ? -1 : dot(v, q) / scale;
  };
  return { dot, cross, add, unit, rotation, along, times, looking, perspective, parallel, met };
})();
