/** The part of omggif that the sites use; the package has no types. */
declare module "omggif" {
  export interface GifFrameOptions {
    /** 0xRRGGBB; the length is a power of two from 2 to 256. */
    readonly palette?: readonly number[];
    /** In hundredths of a second. */
    readonly delay?: number;
    readonly transparent?: number;
  }

  export class GifWriter {
    constructor(
      buffer: Uint8Array,
      width: number,
      height: number,
      options?: { palette?: readonly number[]; loop?: number },
    );
    addFrame(
      x: number,
      y: number,
      width: number,
      height: number,
      indexedPixels: ArrayLike<number>,
      options?: GifFrameOptions,
    ): number;
    /** Length of the file in bytes. */
    end(): number;
  }

  export class GifReader {
    constructor(file: Uint8Array);
    readonly width: number;
    readonly height: number;
    numFrames(): number;
    decodeAndBlitFrameRGBA(frame: number, pixels: Uint8Array): void;
  }
}
