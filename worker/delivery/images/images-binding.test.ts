import { expect, it } from "vitest";
import type { ImageFacts } from "../../../shared/web/image-facts.ts";
import type { PictureCodec } from "./image-recoder.ts";
import { BindingCodec, type ImagesBinding } from "./picture-codecs.ts";

const facts: ImageFacts = { type: "jpeg", width: 30, height: 20, isPlain: true };
const picture = new Uint8Array([1, 2, 3]);
const text = (bytes: Uint8Array | null) => bytes && new TextDecoder().decode(bytes);

function setUp(change: { format?: string; width?: number; fails?: boolean; otherwise?: boolean } = {}) {
  const { format, width = 30, fails = false, otherwise = false } = change;
  const asked: unknown[] = [];
  const binding: ImagesBinding = {
    info: async () => ({ width, height: 20 }),
    input: (stream) => ({
      async output(options) {
        asked.push({ ...options, bytes: await new Response(stream).bytes() });
        if (fails) throw new Error("IMAGES_TRANSFORM_ERROR 9422: too many");
        return { contentType: () => format ?? options.format, image: () => new Blob(["small"]).stream() };
      },
    }),
  };
  let rested = 0;
  const own: PictureCodec = { recode: async () => new TextEncoder().encode("own"), rest: () => void rested++ };
  const codec = new BindingCodec(binding, otherwise ? own : null);
  const recode = async (of: ImageFacts = facts) =>
    text(await codec.recode(picture, of, { kind: "photo", recoding: "balanced" }));
  return { codec, recode, asked, rested: () => rested };
}

it("has the binding code a picture anew", async () => {
  const { recode, asked } = setUp();
  expect(await recode()).toBe("small");
  expect(asked).toEqual([{ format: "image/avif", quality: 65, bytes: picture }]);
});

it("takes nothing of another format or size, and nothing that EXIF turns", async () => {
  expect(await setUp({ format: "image/jpeg" }).recode()).toBeNull();
  expect(await setUp({ width: 29 }).recode()).toBeNull();
  const { recode, asked } = setUp();
  expect(await recode({ ...facts, isTurned: true })).toBeNull();
  expect(asked).toEqual([]);
});

it("leaves to the edge's own codecs what it cannot, where those may work", async () => {
  expect(await setUp({ fails: true }).recode()).toBeNull();
  expect(await setUp({ fails: true, otherwise: true }).recode()).toBe("own");
  const { codec, recode, rested } = setUp({ otherwise: true });
  expect(await recode({ ...facts, isTurned: true })).toBe("own");
  codec.rest();
  expect(rested()).toBe(1);
});
