const made = new Map<string, Promise<Buffer>>();

/**
 * Encodes a picture at several widths until the file has 94% to 100% of `bytes`. Where no width does, as with pictures
 * of a few hundred bytes, the largest file below counts.
 *
 * @param key stands for the picture: what was made under it in this process is given again.
 * @param encode the picture at a width in pixels.
 * @throws RangeError when even a tiny picture has more bytes.
 */
export function pictureOfSize(key: string, bytes: number, encode: (width: number) => Promise<Buffer>): Promise<Buffer> {
  const known = made.get(`${key} ${bytes}`);
  if (known !== undefined) return known;
  const file = search(bytes, encode);
  made.set(`${key} ${bytes}`, file);
  return file;
}

async function search(bytes: number, encode: (width: number) => Promise<Buffer>): Promise<Buffer> {
  let width = Math.max(8, Math.round(Math.sqrt(bytes * 4)));
  let best: Buffer | undefined;
  for (let attempt = 0; attempt < 12; attempt++) {
    const file = await encode(width);
    if (file.length <= bytes && file.length > (best?.length ?? 0)) best = file;
    if (file.length <= bytes && file.length >= bytes * 0.94) break;
    const factor = Math.sqrt((bytes * 0.97) / file.length);
    const next = Math.max(4, Math.round(width * Math.min(2, Math.max(0.5, factor))));
    width = next === width ? width + Math.sign(bytes - file.length) : next;
  }
  if (!best) throw new RangeError(`Cannot encode a picture in ${bytes} bytes: the smallest has more`);
  return best;
}
