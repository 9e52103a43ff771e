/** The parts of speedline-core that its own types leave out. */

declare module "speedline-core/lib/frame.js" {
  import type { Output } from "speedline-core";

  const frames: {
    /** @param timestamp milliseconds. */
    create(jpeg: Buffer, timestamp: number): Output["frames"][number];
  };
  export default frames;
}

declare module "speedline-core/lib/speed-index.js" {
  import type { Output } from "speedline-core";

  const speedIndex: {
    /** Sets each frame's progress, in percent from the first frame's picture to the last one's. */
    calculateVisualProgress(frames: Output["frames"], options: { readonly fastMode: boolean }): void;
    calculateSpeedIndexes(
      frames: Output["frames"],
      data: { readonly startTs: number },
    ): { readonly speedIndex?: number; readonly visuallyCompleteTs?: number };
  };
  export default speedIndex;
}
