// The other half of packing.py: text within a page back to bytes, documents and tables of numbers.
"use strict";
const gaussdynInflate = async (text) => {
  const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
};

// A document whose references {"$": k} are tables {rows, width, data}; data is a Float32Array, row after row.
const gaussdynUnpack = async (text) => {
  const bytes = await gaussdynInflate(text), size = new DataView(bytes.buffer).getUint32(0, true);
  const { document: found, tables } = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
  let at = 4 + size;
  for (const table of tables) {
    const { rows, width, step } = table, count = rows * width, sums = new Float64Array(width);
    table.data = new Float32Array(count);
    for (let k = 0; k < count; k += 1) {
      const folded = bytes[at + k] + (bytes[at + count + k] << 8) + (bytes[at + 2 * count + k] << 16) + bytes[at + 3 * count + k] * 16777216;
      sums[k % width] += folded % 2 ? -(folded + 1) / 2 : folded / 2;
      table.data[k] = sums[k % width] * step;
    }
    at += 4 * count;
  }
  const resolve = (value) => {
    if (value === null || typeof value !== "object") return value;
    if ("$" in value) return tables[value.$];
    for (const key of Object.keys(value)) value[key] = resolve(value[key]);
    return value;
  };
  return resolve(found);
};

// The film of a run; contactsAt(frame) lists (which, mode, point, normal, force).
const gaussdynFilm = async (text) => {
  const film = await gaussdynUnpack(text), { counts, which, at, normal, force } = film.contacts;
  const begins = [0];
  for (const count of counts.data) begins.push(begins[begins.length - 1] + count);
  const part = (table, k) => Array.from(table.data.subarray(k * table.width, (k + 1) * table.width));
  let kept = -1, lines = [];
  film.contactsAt = (frame) => {
    if (frame === kept) return lines;
    kept = frame;
    lines = Array.from({ length: counts.data[frame] }, (_, i) => {
      const k = begins[frame] + i;
      return [...part(which, k), part(at, k), part(normal, k), part(force, k)];
    });
    return lines;
  };
  return film;
};
