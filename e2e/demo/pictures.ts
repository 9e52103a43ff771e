import { hslToRgb } from "./colour.ts";
import { encodePng } from "./png.ts";
import { seededRandom, seedOf } from "./random.ts";

const SHADES = 64;

/** A picture of sky over water as PNG, different for every name, `width` pixels wide and two thirds as high. */
export function photo(name: string, width: number): Buffer {
  const height = Math.round((width * 2) / 3);
  const random = seededRandom(seedOf(name));
  const hue = 190 + random() * 40;
  const dusk = 370 + random() * 30;
  const palette = Array.from({ length: SHADES * 2 }, (_, index) => {
    const share = (index % SHADES) / SHADES;
    return index < SHADES
      ? hslToRgb(hue + (dusk - hue) * share ** 3, 0.35 + 0.25 * share, 0.38 + 0.45 * share)
      : hslToRgb(hue + 8, 0.4 - 0.2 * share, 0.42 - 0.3 * share);
  });
  const horizon = height * (0.45 + random() * 0.15);
  const sun = {
    x: width * (0.2 + random() * 0.6),
    y: horizon * (0.55 + random() * 0.3),
    radius: width * 0.045,
  };
  const ridges = Array.from({ length: 5 }, () => ({
    length: 0.5 + random() * 4,
    phase: random() * 7,
    size: random(),
  }));
  const pixels = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      pixels[y * width + x] = shadeAt(x, y);
    }
  }
  return encodePng({ width, height, palette, pixels });

  function shadeAt(x: number, y: number): number {
    const land = ridges.reduce(
      (sum, ridge) => sum + ridge.size * Math.sin((x / width) * ridge.length * 6 + ridge.phase),
      0,
    );
    const grain = random();
    if (y < horizon) {
      if (Math.hypot(x - sun.x, y - sun.y) < sun.radius) return SHADES - 1;
      if (y > horizon - height * 0.035 * (1 + land)) return SHADES + 50 + Math.floor(grain * 4);
      return Math.min(SHADES - 2, Math.floor((y / horizon) ** 1.3 * 58 + grain * 1.6));
    }
    const depth = (y - horizon) / (height - horizon);
    const glint = Math.abs(x - sun.x) < width * (0.03 + depth * 0.12) * grain ? 22 * (1 - depth) : 0;
    const wave = 6 * Math.sin(y * (1.6 - depth) + x * 0.02 + land * 2);
    return SHADES + Math.max(0, Math.min(SHADES - 1, Math.floor(8 + depth * 44 + wave - glint + grain * 3)));
  }
}

/** A flat drawing of the harbour as SVG, different for every name. */
export function drawing(name: string): string {
  const random = seededRandom(seedOf(name));
  const hue = Math.floor(random() * 40);
  const colour = (offset: number, saturation: number, lightness: number): string =>
    `hsl(${(hue + offset) % 360} ${saturation}% ${lightness}%)`;
  const houses = Array.from({ length: 9 }, (_, index) => {
    const width = 38 + random() * 34;
    const height = 60 + random() * 90;
    const x = 20 + index * 68;
    const y = 300 - height;
    return `<path fill="${colour(index * 17, 38, 46 + random() * 22)}" d="M${round(x)} 300V${round(y)}l${round(width / 2)} -26l${round(width / 2)} 26V300z"/>
<rect x="${round(x + width * 0.2)}" y="${round(y + 14)}" width="10" height="14" fill="${colour(40, 80, 84)}"/>
<rect x="${round(x + width * 0.58)}" y="${round(y + 34)}" width="10" height="14" fill="${colour(40, 80, 84)}"/>`;
  }).join("\n");
  const waves = Array.from({ length: 5 }, (_, index) => {
    const y = 318 + index * 19;
    const shift = round(random() * 40);
    return `<path fill="none" stroke="${colour(190, 30, 74 - index * 6)}" stroke-width="3" d="M-${shift} ${y}q20 -9 40 0${"t40 0".repeat(17)}"/>`;
  }).join("\n");
  const tower = round(430 + random() * 140);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 427" width="640" height="427" role="img">
<rect width="640" height="427" fill="${colour(200, 45, 88)}"/>
<circle cx="${round(80 + random() * 300)}" cy="${round(70 + random() * 50)}" r="34" fill="${colour(45, 90, 90)}"/>
${houses}
<path fill="${colour(0, 10, 96)}" d="M${tower - 22} 300l8 -170h28l8 170z"/>
<path fill="${colour(0, 62, 52)}" d="M${tower - 18} 215l2.5 -40h31l2.5 40zM${tower - 18} 128l18 -24l18 24z"/>
<rect y="300" width="640" height="127" fill="${colour(195, 36, 52)}"/>
${waves}
</svg>
`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
