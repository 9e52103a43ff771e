import type { Browser, Page } from "@playwright/test";
import jpeg from "jpeg-js";
import speedlineFrame from "speedline-core/lib/frame.js";
import speedlineIndex from "speedline-core/lib/speed-index.js";
import type { FilmstripFrame } from "../model.ts";
import { thumbnail } from "./thumbnail.ts";

/** What the person saw, as the browser itself recorded it. */
export interface ScreenRecord {
  /** Milliseconds; null where the browser drew nothing, or more than it keeps. */
  readonly speedIndex: number | null;
  readonly filmstrip: readonly FilmstripFrame[];
}

export interface Screenshot {
  /** Milliseconds since the person asked for the page. */
  readonly at: number;
  /** JPEG. */
  readonly picture: Buffer;
}

interface TraceEvent {
  readonly name: string;
  readonly cat: string;
  /** Microseconds, on the browser's monotonic clock. */
  readonly ts: number;
  readonly args: { readonly snapshot?: string; readonly data?: { readonly startTime?: number } };
}

const FRAMES = 8;
/** Chromium keeps no more of a visit (`kMaximumNumberOfScreenshots`): what is drawn after them is unknown. */
export const MOST_PICTURES = 450;
/** Milliseconds by which a picture may be dated before the paint that it shows: two frames. */
const PAINT_TOLERANCE = 34;
const PICTURES = "disabled-by-default-devtools.screenshot";
const MARKS = "blink.user_timing";
const MARK = "bench-now";

/** Starts to record. It costs CPU time of the browser. */
export async function startScreenRecord(browser: Browser, page: Page): Promise<void> {
  await browser.startTracing(page, { screenshots: true, categories: ["-*", PICTURES, MARKS] });
}

/**
 * Ends the record.
 *
 * @param page whose clock is the one that `zero` was read from.
 * @param zero when the person asked for the page, in milliseconds since 1970 by that clock.
 * @param firstPaint of the page's content, in milliseconds since zero; null where the browser tells none.
 */
export async function endScreenRecord(
  browser: Browser,
  page: Page,
  zero: number,
  firstPaint: number | null,
): Promise<ScreenRecord> {
  const now = await page.evaluate((mark) => performance.timeOrigin + performance.mark(mark).startTime, MARK);
  const trace = await browser.stopTracing();
  return readScreenRecord(screenshots(trace.toString(), now - zero), firstPaint ?? 0);
}

/** @param markAt milliseconds between zero and the mark. */
function screenshots(trace: string, markAt: number): Screenshot[] {
  const { traceEvents } = JSON.parse(trace) as { traceEvents: readonly TraceEvent[] };
  const mark = traceEvents.findLast(({ name, cat }) => name === MARK && cat.includes(MARKS));
  if (mark === undefined) throw new Error("Cannot read the screen record: its clock is unknown");
  const zero = mark.ts - markAt * 1000;
  return traceEvents
    .flatMap(({ cat, ts, args }) =>
      cat.includes(PICTURES) && args.snapshot !== undefined
        ? [{ at: (ts - zero) / 1000, picture: Buffer.from(args.snapshot, "base64") }]
        : [],
    )
    .toSorted((one, other) => one.at - other.at);
}

/**
 * Speed Index by speedline-core, from the picture that was on the screen just before the page's first contentful paint
 * (white, where none is known) to the last one. Until then nothing counts as progress: that an app takes its start page
 * away and shows the white that most pages end with is none. Nothing, where there may have been more pictures than the browser keeps.
 *
 * @param shots by time.
 * @param firstPaint in milliseconds, as the shots.
 */
export function readScreenRecord(shots: readonly Screenshot[], firstPaint: number): ScreenRecord {
  const begin = Math.max(0, firstPaint - PAINT_TOLERANCE);
  const after = shots.filter(({ at }) => at > begin);
  const first = after[0];
  if (first === undefined || shots.length >= MOST_PICTURES) return { speedIndex: null, filmstrip: [] };
  const before = shots.findLast(({ at }) => at <= begin);
  const distinct = withoutRepeats([{ at: 0, picture: before?.picture ?? whiteLike(first.picture) }, ...after]);
  const frames = distinct.map(({ at, picture }) => speedlineFrame.create(picture, at));
  speedlineIndex.calculateVisualProgress(frames, { fastMode: false });
  const { speedIndex } = speedlineIndex.calculateSpeedIndexes(frames, { startTs: 0 });
  const progress = frames.map((frame) => frame.getProgress());
  const filmstrip = pickFrames(progress).flatMap((index) => {
    const frame = frames[index];
    return frame === undefined
      ? []
      : [{ at: Math.round(frame.getTimeStamp()), picture: thumbnail(frame.getParsedImage()) }];
  });
  return { speedIndex: speedIndex ?? null, filmstrip };
}

function withoutRepeats(shots: readonly Screenshot[]): Screenshot[] {
  return shots.filter(({ picture }, index) => !shots[index - 1]?.picture.equals(picture));
}

/**
 * Indices of up to eight frames: the first, the first that is complete, and between them those that reach even steps of
 * progress.
 *
 * @param progress percent, by frame; the last frame's is 100.
 */
export function pickFrames(progress: readonly number[]): number[] {
  const steps = Array.from({ length: FRAMES - 1 }, (_, index) => (100 * (index + 1)) / (FRAMES - 1));
  const reached = steps.map((percent) => progress.findIndex((each) => each >= percent));
  return [...new Set([0, ...reached])].filter((index) => index >= 0).toSorted((one, other) => one - other);
}

function whiteLike(picture: Buffer): Buffer {
  const { width, height } = jpeg.decode(picture);
  return jpeg.encode({ width, height, data: Buffer.alloc(width * height * 4, 255) }, 50).data;
}
