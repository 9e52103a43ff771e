/** A picture as rows of red, green, blue and alpha bytes. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

export interface Area {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** The area of a picture, drawn `width` by `height` pixels large; each is the mean of the source pixels it covers. */
export function resize(source: Pixels, area: Area, width: number, height: number): Pixels {
  const data = new Uint8Array(width * height * 4);
  const columns = spans(area.left, area.width, width, source.width);
  const rows = spans(area.top, area.height, height, source.height);
  let target = 0;
  for (const [top, bottom] of rows) {
    for (const [left, right] of columns) {
      let red = 0;
      let green = 0;
      let blue = 0;
      for (let y = top; y < bottom; y++) {
        for (let offset = (y * source.width + left) * 4; offset < (y * source.width + right) * 4; offset += 4) {
          red += source.data[offset] ?? 0;
          green += source.data[offset + 1] ?? 0;
          blue += source.data[offset + 2] ?? 0;
        }
      }
      const count = (bottom - top) * (right - left);
      data[target++] = red / count;
      data[target++] = green / count;
      data[target++] = blue / count;
      data[target++] = 255;
    }
  }
  return { width, height, data };
}

/** First and one past last source index of each of `count` equal parts of a length. */
function spans(start: number, length: number, count: number, limit: number): readonly (readonly [number, number])[] {
  return Array.from({ length: count }, (_, index) => {
    const first = Math.min(limit - 1, Math.floor(start + (index * length) / count));
    const last = Math.max(first + 1, Math.min(limit, Math.floor(start + ((index + 1) * length) / count)));
    return [first, last] as const;
  });
}
