import jpeg from "jpeg-js";

/** Four bytes a pixel, row by row. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** CSS pixels. */
const WIDTH = 120;
const QUALITY = 60;

/** The picture as a data: URL of a JPEG, at most 120 pixels wide. */
export function thumbnail(picture: Pixels): string {
  const { width, height, data } = shrink(picture, WIDTH);
  const encoded = jpeg.encode({ width, height, data: Buffer.from(data) }, QUALITY).data;
  return `data:image/jpeg;base64,${encoded.toString("base64")}`;
}

/** Each pixel is the mean of those that it stands for. */
export function shrink(picture: Pixels, greatestWidth: number): Pixels {
  const scale = Math.max(1, picture.width / greatestWidth);
  const width = Math.max(1, Math.floor(picture.width / scale));
  const height = Math.max(1, Math.floor(picture.height / scale));
  const data = new Uint8Array(width * height * 4);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) data.set(mean(picture, x * scale, y * scale, scale), (y * width + x) * 4);
  }
  return { width, height, data };
}

function mean({ width, height, data }: Pixels, left: number, top: number, side: number): number[] {
  const sums = [0, 0, 0, 0];
  let count = 0;
  for (let y = Math.floor(top); y < Math.min(height, Math.ceil(top + side)); y++) {
    for (let x = Math.floor(left); x < Math.min(width, Math.ceil(left + side)); x++) {
      for (let channel = 0; channel < 4; channel++) {
        sums[channel] = (sums[channel] ?? 0) + (data[(y * width + x) * 4 + channel] ?? 0);
      }
      count++;
    }
  }
  return sums.map((sum) => Math.round(sum / count));
}
