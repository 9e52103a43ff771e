import { hslToRgb } from "./colour.ts";
import { encodePng } from "./png.ts";
import { seededRandom } from "./random.ts";

export const PICTURE_COUNT = 150;
/** The size in bytes of each picture of the paper's test page. */
export const PICTURE_BYTES = 1517;

const SIDE = 36;
const SHADES = 64;

/** The picture of this number, 1 to 150: a tile of grained colour, unlike every other. Always 1,517 bytes. */
export function tilePicture(number: number): Buffer {
  const random = seededRandom(number * 7919);
  const hue = (number * 137.508) % 360;
  const palette = Array.from({ length: SHADES }, (_, shade) => hslToRgb(hue, 0.55, 0.18 + (0.62 * shade) / SHADES));
  const pixels = new Uint8Array(SIDE * SIDE);
  const slant = random();
  for (let index = 0; index < pixels.length; index++) {
    const x = (index % SIDE) / SIDE;
    const y = Math.floor(index / SIDE) / SIDE;
    const slope = slant * x + (1 - slant) * y;
    pixels[index] = Math.min(SHADES - 1, Math.floor(slope * 40 + random() * 24));
  }
  return encodePng({ width: SIDE, height: SIDE, palette, pixels }, PICTURE_BYTES);
}

export function hundredFiftyPage(): string {
  const tiles = Array.from({ length: PICTURE_COUNT }, (_, index) => {
    const number = index + 1;
    return `<img src="tile-${number}.png" alt="Tile ${number}" width="36" height="36">`;
  }).join("\n");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>150 pictures</title>
<link rel="icon" href="data:,">
<style>
  :root { color-scheme: light dark; }
  body { font: 1rem/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 44rem; padding: 1.25rem; }
  h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .5rem; }
  p { margin: 0 0 1.25rem; }
  .tiles { display: grid; gap: 4px; grid-template-columns: repeat(auto-fill, minmax(36px, 1fr)); }
  img { aspect-ratio: 1; border-radius: 6px; height: auto; width: 100%; }
</style>
</head>
<body>
<h1>150 pictures</h1>
<p>Each of these tiles is a file of its own, ${PICTURE_BYTES.toLocaleString("en")} bytes long and unlike all others. On a slow, far
link a browser spends most of its time here asking, not receiving.</p>
<div class="tiles">
${tiles}
</div>
</body>
</html>
`;
}
