// Draws many copies of few meshes with WebGL 2: one call per mesh, a shadow map, one sun.
const gaussdynRenderer = (canvas) => {
  if (canvas.renderer) { canvas.renderer.forget(); return canvas.renderer; } // of an earlier film
  const gl = canvas.getContext("webgl2", { antialias: true, alpha: false });
  if (!gl) return null;
  const NUMBERS = 16, SHADOW = 1024; // of a copy: three rows of a map (place in column four), colour and opacity
  const SKY = [0.955, 0.965, 0.975];

  const PLACE = `#version 300 es
    layout(location=0) in vec3 p; layout(location=1) in vec3 n;
    layout(location=2) in vec4 x; layout(location=3) in vec4 y; layout(location=4) in vec4 z; layout(location=5) in vec4 paint;
    uniform mat4 camera, sun;
    out vec3 world, normal, local; out vec4 shown, lit;
    void main() {
      vec4 h = vec4(p, 1.0);
      world = vec3(dot(x, h), dot(y, h), dot(z, h));
      vec3 m = n / max(x.xyz * x.xyz + y.xyz * y.xyz + z.xyz * z.xyz, 1e-30);
      normal = vec3(dot(x.xyz, m), dot(y.xyz, m), dot(z.xyz, m));
      local = p; shown = paint; lit = sun * vec4(world, 1.0);
      gl_Position = camera * vec4(world, 1.0);
    }`;
  const PAINT = `#version 300 es
    precision highp float; precision highp sampler2DShadow;
    in vec3 world, normal, local; in vec4 shown, lit;
    uniform vec3 eye, towards, sky; uniform sampler2DShadow shade; uniform int kind; uniform float cells;
    out vec4 colour;
    float light() {
      vec3 q = lit.xyz / lit.w * 0.5 + 0.5;
      if (any(lessThan(q, vec3(0.0))) || any(greaterThan(q, vec3(1.0)))) return 1.0;
      float sum = 0.0;
      for (int i = -1; i <= 1; ++i) for (int j = -1; j <= 1; ++j) sum += texture(shade, vec3(q.xy + vec2(i, j) / ${SHADOW}.0, q.z - 0.0025));
      return sum / 9.0;
    }
    void main() {
      vec3 n = normalize(normal), way = normalize(eye - world), base = shown.rgb;
      if (dot(n, way) < 0.0 && kind != 1) n = -n;
      if (kind == 1) {
        vec2 c = local.xy * cells, w = fwidth(c) + 1e-5;
        vec2 i = 2.0 * (abs(fract((c - 0.5 * w) * 0.5) - 0.5) - abs(fract((c + 0.5 * w) * 0.5) - 0.5)) / w;
        base *= 1.0 - 0.055 * (0.5 - 0.5 * i.x * i.y);
      }
      if (kind == 2) base *= 1.0 - 0.22 * step(0.0, local.x * local.y * local.z); // shows how round bodies turn
      float bright = max(dot(n, towards), 0.0) * light();
      vec3 half_way = normalize(way + towards);
      vec3 found = base * (0.46 + 0.12 * n.z + 0.55 * bright) + (kind == 1 ? 0.0 : 0.20) * bright * pow(max(dot(n, half_way), 0.0), 40.0);
      float far = kind == 1 ? smoothstep(0.25, 0.95, length(local.xy)) : 0.0;
      colour = vec4(mix(found, sky, far), shown.a);
    }`;
  const LINE = `#version 300 es
    layout(location=0) in vec3 p; uniform mat4 camera;
    void main() { gl_Position = camera * vec4(p, 1.0); }`;
  const INK = `#version 300 es
    precision highp float; uniform vec4 ink; out vec4 colour;
    void main() { colour = ink; }`;

  const program = (vertex, fragment) => {
    const made = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(made, shader);
    }
    gl.linkProgram(made);
    if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made));
    const at = {};
    for (let k = gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS) - 1; k >= 0; k -= 1) {
      const { name } = gl.getActiveUniform(made, k);
      at[name] = gl.getUniformLocation(made, name);
    }
    return { made, at };
  };
  const solids = program(PLACE, PAINT), shadows = program(PLACE, INK), lines = program(LINE, INK);

  const depth = gl.createTexture(), room = gl.createFramebuffer();
  gl.bindTexture(gl.TEXTURE_2D, depth);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.DEPTH_COMPONENT24, SHADOW, SHADOW, 0, gl.DEPTH_COMPONENT, gl.UNSIGNED_INT, null);
  for (const [key, value] of [["MIN_FILTER", gl.LINEAR], ["MAG_FILTER", gl.LINEAR], ["WRAP_S", gl.CLAMP_TO_EDGE], ["WRAP_T", gl.CLAMP_TO_EDGE], ["COMPARE_MODE", gl.COMPARE_REF_TO_TEXTURE]]) {
    gl.texParameteri(gl.TEXTURE_2D, gl[`TEXTURE_${key}`], value);
  }
  gl.bindFramebuffer(gl.FRAMEBUFFER, room);
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, depth, 0);
  gl.enable(gl.DEPTH_TEST);
  gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);

  const kept = { arrays: [], buffers: [] }; // of this film
  const array = () => { const made = gl.createVertexArray(); kept.arrays.push(made); gl.bindVertexArray(made); return made; };
  const buffer = () => { const made = gl.createBuffer(); kept.buffers.push(made); return made; };
  const forget = () => {
    for (const one of kept.arrays.splice(0)) gl.deleteVertexArray(one);
    for (const one of kept.buffers.splice(0)) gl.deleteBuffer(one);
  };
  const attribute = (k, size, stride, offset, each) => {
    gl.enableVertexAttribArray(k);
    gl.vertexAttribPointer(k, size, gl.FLOAT, false, stride, offset);
    gl.vertexAttribDivisor(k, each);
  };
  // A mesh and its copies in this picture; kind: 0 plain, 1 ground, 2 round; clear ones are drawn last, cast no shadow.
  const batch = (mesh, kind = 0, clear = false) => {
    const made = { mesh, kind, clear, corners: mesh.length / 6, count: 0, data: new Float32Array(NUMBERS * 16), owner: [], array: array(), copies: buffer() };
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer());
    gl.bufferData(gl.ARRAY_BUFFER, mesh, gl.STATIC_DRAW);
    attribute(0, 3, 24, 0, 0);
    attribute(1, 3, 24, 12, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, made.copies);
    for (let k = 0; k < 4; k += 1) attribute(2 + k, 4, 64, 16 * k, 1);
    gl.bindVertexArray(null);
    return made;
  };
  const line = (points) => {
    const made = array();
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer());
    gl.bufferData(gl.ARRAY_BUFFER, points, gl.STATIC_DRAW);
    attribute(0, 3, 12, 0, 0);
    gl.bindVertexArray(null);
    return made;
  };

  const copies = (batches, on, camera) => {
    gl.uniformMatrix4fv(on.at.camera, false, camera);
    for (const one of batches) {
      if (on.at.kind) gl.uniform1i(on.at.kind, one.kind);
      gl.bindVertexArray(one.array);
      gl.drawArraysInstanced(gl.TRIANGLES, 0, one.corners, one.count);
    }
  };
  // view: camera and sun (4 x 4), eye, towards the sun, cells of the ground; trails: {array, start, count, ink}.
  const render = (view, batches, trails) => {
    const filled = batches.filter((one) => one.count);
    for (const one of filled) {
      gl.bindBuffer(gl.ARRAY_BUFFER, one.copies);
      gl.bufferData(gl.ARRAY_BUFFER, one.data.subarray(0, NUMBERS * one.count), gl.DYNAMIC_DRAW);
    }
    const firm = filled.filter((one) => !one.clear);
    gl.bindFramebuffer(gl.FRAMEBUFFER, room);
    gl.viewport(0, 0, SHADOW, SHADOW);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.useProgram(shadows.made);
    copies(firm.filter((one) => one.kind !== 1), shadows, view.sun);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(...SKY, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.useProgram(solids.made);
    gl.uniformMatrix4fv(solids.at.sun, false, view.sun);
    gl.uniform3fv(solids.at.eye, view.eye);
    gl.uniform3fv(solids.at.towards, view.towards);
    gl.uniform3fv(solids.at.sky, SKY);
    gl.uniform1f(solids.at.cells, view.cells);
    gl.enable(gl.CULL_FACE);
    copies(firm.filter((one) => one.kind === 1), solids, view.camera);
    gl.disable(gl.CULL_FACE);
    copies(firm.filter((one) => one.kind !== 1), solids, view.camera);
    gl.enable(gl.BLEND);
    gl.useProgram(lines.made);
    gl.uniformMatrix4fv(lines.at.camera, false, view.camera);
    for (const { array, start, count, ink } of trails) {
      gl.uniform4fv(lines.at.ink, ink);
      gl.bindVertexArray(array);
      gl.drawArrays(gl.LINE_STRIP, start, count);
    }
    gl.depthMask(false);
    gl.useProgram(solids.made);
    copies(filled.filter((one) => one.clear), solids, view.camera);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
    gl.bindVertexArray(null);
  };
  canvas.renderer = { batch, line, render, forget };
  return canvas.renderer;
};
