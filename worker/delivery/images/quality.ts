/**
 * How coarsely a picture may be coded so that nobody sees it. What shows first is that faint texture goes: grain, cloth, a
 * wall. Where a picture has much of that it is coded finely, where its blocks are flat, or full of contrast, coarsely.
 */
import type { Pixels } from "./image-codecs.ts";
import type { Coding, Kind } from "./picture-codec.ts";

/** Where nobody looks at the pixels before. */
export const USUAL_QUALITY: Readonly<Record<Coding["recoding"], Readonly<Record<Kind, number>>>> = {
  balanced: { photo: 65, drawing: 65, large: 78 },
  strong: { photo: 40, drawing: 40, large: 45 },
};

/** Device pixels across the screen of a phone: wider pictures are shown smaller. */
export const SCREEN_WIDTH = 1080;

/** SSIM that a balanced picture is to have, as a phone shows it. */
const LIKENESS = 0.98;
/** Of SSIM over values of 0 to 255 (Wang et al. 2004). */
const C2 = (0.03 * 255) ** 2;
/** Luma that may be below what is transparent. */
const PAPERS = [255, 0];
/** Pixels on a side. */
const BLOCK = 8;
/** Count: more blocks say nothing more. */
const MOST_BLOCKS = 2_000;

/**
 * Coarsest first: the mean squared error that a picture has to bear, and the quality that it then gets. Found by trial with
 * the pictures of `scripts/measure-pictures.ts`: another encoder, or another speed, needs other figures.
 */
const STEPS: readonly (Readonly<Record<Kind, number>> & { readonly error: number })[] = [
  { error: 40, photo: 48, drawing: 48, large: 65 },
  { error: 18, photo: 55, drawing: 60, large: 72 },
  { error: 12, photo: 58, drawing: 70, large: 77 },
  { error: 9, photo: 61, drawing: 70, large: 81 },
  { error: 6, photo: 64, drawing: 72, large: 83 },
  { error: 2.5, photo: 70, drawing: 79, large: 85 },
];
const FINEST: (typeof STEPS)[number] = { error: 0, photo: 80, drawing: 82, large: 87 };

/** @returns of a balanced picture, on the scale of the codec for its kind. */
export function balancedQuality(pixels: Pixels, kind: Kind): number {
  const onPapers = PAPERS.map((paper) => blockVariances(pixels, paper));
  const bears = (error: number) => onPapers.every((variances) => expectedLikeness(variances, error) >= LIKENESS);
  return (STEPS.find(({ error }) => bears(error)) ?? FINEST)[kind];
}

/** SSIM if each block loses so much of its contrast, or all that it has. */
function expectedLikeness(variances: readonly number[], error: number): number {
  const each = variances.map((variance) => {
    const kept = Math.max(0, variance - error);
    return (2 * kept + C2) / (kept + variance + C2);
  });
  return each.length === 0 ? 1 : each.reduce((sum, one) => sum + one, 0) / each.length;
}

/** Of the luma in blocks here and there, in the size in which it is shown. */
function blockVariances(pixels: Pixels, paper: number): number[] {
  const scale = Math.max(1, pixels.width / SCREEN_WIDTH);
  const [across, down] = [Math.floor(pixels.width / scale / BLOCK), Math.floor(pixels.height / scale / BLOCK)];
  const variances: number[] = [];
  for (let block = 0; block < across * down; block += Math.ceil((across * down) / MOST_BLOCKS)) {
    const [left, top] = [(block % across) * BLOCK, Math.floor(block / across) * BLOCK];
    let [sum, squares] = [0, 0];
    for (let i = 0; i < BLOCK * BLOCK; i++) {
      const luma = shownLuma(pixels, paper, scale, left + (i % BLOCK), top + Math.floor(i / BLOCK));
      sum += luma;
      squares += luma * luma;
    }
    variances.push(squares / BLOCK ** 2 - (sum / BLOCK ** 2) ** 2);
  }
  return variances;
}

/** Of a pixel of the screen: the mean of those that it shows. */
function shownLuma({ data, width }: Pixels, paper: number, scale: number, x: number, y: number): number {
  let [sum, count] = [0, 0];
  for (let row = Math.floor(y * scale); row < Math.floor((y + 1) * scale); row++) {
    for (let column = Math.floor(x * scale); column < Math.floor((x + 1) * scale); column++) {
      const at = 4 * (row * width + column);
      const alpha = (data[at + 3] ?? 255) / 255;
      const luma = 0.299 * (data[at] ?? 0) + 0.587 * (data[at + 1] ?? 0) + 0.114 * (data[at + 2] ?? 0);
      sum += luma * alpha + paper * (1 - alpha);
      count += 1;
    }
  }
  return sum / count;
}
