import jpeg from "jpeg-js";
import { describe, expect, it } from "vitest";
import { MOST_PICTURES, pickFrames, readScreenRecord, type Screenshot } from "./screen-record.ts";
import { shrink } from "./thumbnail.ts";

const WIDTH = 60;
const HEIGHT = 120;

/** A screen of which the upper part is dark, the rest white. */
function screen(at: number, darkShare: number, shade = 40): Screenshot {
  const data = Buffer.alloc(WIDTH * HEIGHT * 4, 255);
  for (let pixel = 0; pixel < WIDTH * HEIGHT * darkShare; pixel++) data.fill(shade, pixel * 4, pixel * 4 + 3);
  return { at, picture: jpeg.encode({ width: WIDTH, height: HEIGHT, data }, 100).data };
}

describe("readScreenRecord", () => {
  it("integrates what was not there yet, from white", () => {
    const { speedIndex } = readScreenRecord([screen(400, 0.5), screen(1000, 1)], 400);
    expect(speedIndex).toBeGreaterThan(690);
    expect(speedIndex).toBeLessThan(710);
  });

  it("does not count what was on the screen before as progress", () => {
    const { speedIndex } = readScreenRecord([screen(-50, 1, 200), screen(500, 1, 200), screen(1000, 1, 40)], 0);
    expect(speedIndex).toBe(1000);
  });

  it("does not count a blank screen in place of a start page as progress", () => {
    const blank = screen(300, 0);
    const page = [screen(5000, 0.2), screen(6000, 0.25)];
    const direct = readScreenRecord([screen(-50, 0), ...page], 5010);
    const app = readScreenRecord([screen(-50, 0.8, 120), blank, ...page], 5010);
    expect(direct.speedIndex).toBeGreaterThan(5000);
    expect(app.speedIndex).toBe(direct.speedIndex);
  });

  it("has nothing to say where nothing was drawn", () => {
    expect(readScreenRecord([screen(-10, 1)], 0)).toEqual({ speedIndex: null, filmstrip: [] });
  });

  it("says nothing where the browser has drawn more than it keeps", () => {
    const [half, whole] = [screen(0, 0.5).picture, screen(0, 1).picture];
    const shots = Array.from({ length: MOST_PICTURES }, (_, at) => ({ at, picture: at < 400 ? half : whole }));
    expect(readScreenRecord(shots, 0)).toEqual({ speedIndex: null, filmstrip: [] });
    expect(readScreenRecord(shots.slice(1), 0).speedIndex).toBeGreaterThan(0);
  });

  it("gives pictures from the first to the last", () => {
    const shots = Array.from({ length: 30 }, (_, index) => screen(100 * (index + 1), (index + 1) / 30));
    const { filmstrip } = readScreenRecord(shots, 100);
    expect(filmstrip).toHaveLength(8);
    expect(filmstrip[0]?.at).toBe(0);
    expect(filmstrip.at(-1)?.at).toBe(3000);
    expect(filmstrip[3]?.picture).toMatch(/^data:image\/jpeg;base64,/);
  });
});

describe("pickFrames", () => {
  it("takes what there is", () => {
    expect(pickFrames([100])).toEqual([0]);
    expect(pickFrames([0, 100])).toEqual([0, 1]);
    expect(pickFrames([0, 30, 20, 100, 100])).toEqual([0, 1, 3]);
  });
});

describe("shrink", () => {
  it("takes means and keeps proportions", () => {
    const data = Uint8Array.from({ length: 4 * 2 * 4 }, (_, index) => (Math.floor(index / 4) % 2 === 0 ? 0 : 100));
    expect(shrink({ width: 4, height: 2, data }, 2)).toEqual({
      width: 2,
      height: 1,
      data: new Uint8Array(8).fill(50),
    });
  });

  it("enlarges nothing", () => {
    const picture = { width: 1, height: 1, data: new Uint8Array([1, 2, 3, 4]) };
    expect(shrink(picture, 120)).toEqual(picture);
  });
});
