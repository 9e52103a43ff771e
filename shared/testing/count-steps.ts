/**
 * Counts what a piece of work costs, without a clock: blocks of the project's code that ran, as V8 counts them, and characters
 * and elements that methods of the language went through, and expressions each time that they went back. Not
 * counted: joining strings by `+`.
 */
import { Session } from "node:inspector";
import { tryExpression } from "./regexp-steps.ts";

let natives = 0;
/** What goes on is no work of those that are counted. */
let isTrying = false;

type Method = (this: never, ...args: never[]) => unknown;
type Undo = () => void;

/** Puts a method in an object's place for one, which gets the one that was there. */
function replace(target: object, name: PropertyKey, make: (former: Method) => unknown): Undo {
  const former = Object.getOwnPropertyDescriptor(target, name) as PropertyDescriptor;
  Object.defineProperty(target, name, { ...former, value: make(former.value as Method) });
  return () => Object.defineProperty(target, name, former);
}

/** @param costOf a call, of its receiver, arguments and result. */
function counting(
  target: object,
  names: readonly string[],
  costOf: (self: { readonly length: number }, args: readonly unknown[], result: unknown) => number,
): Undo[] {
  return names.map((name) =>
    replace(
      target,
      name,
      (former) =>
        function (this: never, ...args: never[]): unknown {
          const result = former.apply(this, args);
          natives += costOf(this, args, result);
          return result;
        },
    ),
  );
}

function countStrings(): Undo[] {
  const whole = "split replace replaceAll match toLowerCase toUpperCase trim trimStart trimEnd normalize isWellFormed";
  return [
    ...counting(String.prototype, `${whole} includes search`.split(" "), (self) => 1 + self.length),
    ...counting(String.prototype, ["indexOf"], (self, [, from = 0], result) => {
      return 1 + ((result as number) === -1 ? self.length : (result as number)) - Number(from);
    }),
    ...counting(String.prototype, ["lastIndexOf"], (self, _, result) => 1 + self.length - (result as number)),
    ...counting(String.prototype, ["startsWith", "endsWith"], (_, [part]) => 1 + String(part).length),
  ];
}

function countLists(): Undo[] {
  const whole = "concat slice splice shift unshift join sort toSorted reverse lastIndexOf with flat";
  const found = (self: { readonly length: number }, _: readonly unknown[], result: unknown): number =>
    1 + (typeof result === "number" && result >= 0 ? result : self.length);
  const iterators = [new Map(), new Set()].map((each) => Object.getPrototypeOf(each[Symbol.iterator]()) as object);
  const step = (): number => 1;
  return [
    ...counting(Array.prototype, whole.split(" "), (self) => 1 + self.length),
    ...counting(Array.prototype, ["indexOf", "includes"], found),
    ...counting(Object.getPrototypeOf([][Symbol.iterator]()) as object, ["next"], step),
    ...iterators.flatMap((each) => counting(each, ["next"], step)),
    ...counting(Object.getPrototypeOf(Uint8Array.prototype) as object, ["set"], (_, [bytes]) => lengthOf(bytes)),
    ...counting(Object.getPrototypeOf(Uint8Array.prototype) as object, ["slice"], (_, __, made) => lengthOf(made)),
  ];
}

function lengthOf(value: unknown): number {
  return 1 + ((value as { readonly length?: number } | undefined)?.length ?? 0);
}

function countParsers(): Undo[] {
  const URLs = globalThis.URL;
  const parsed = (args: readonly unknown[]): number => args.reduce<number>((sum, each) => sum + String(each).length, 1);
  return [
    ...counting(TextDecoder.prototype, ["decode"], (_, [bytes]) => lengthOf(bytes)),
    ...counting(TextEncoder.prototype, ["encode"], (_, [text]) => lengthOf(text)),
    ...counting(JSON, ["parse"], (_, [text]) => lengthOf(text)),
    ...counting(JSON, ["stringify"], (_, __, text) => lengthOf(text)),
    ...counting(URLs, ["canParse", "parse"], (_, args) => parsed(args)),
    replace(
      globalThis,
      "URL",
      () =>
        new Proxy(URLs, {
          construct(target, args, newTarget) {
            natives += parsed(args);
            return Reflect.construct(target, args, newTarget) as object;
          },
        }),
    ),
    replace(
      RegExp.prototype,
      "exec",
      (former) =>
        function (this: RegExp, text: string): unknown {
          if (isTrying) return former.apply(this as never, [text as never]);
          const from = this.global || this.sticky ? this.lastIndex : 0;
          const result = former.apply(this as never, [text as never]) as RegExpExecArray | null;
          const before = natives;
          isTrying = true;
          const { steps } = tryExpression(this, String(text), from);
          isTrying = false;
          natives = before + 1 + steps;
          return result;
        },
    ),
    // Else it would look with an expression at each character by itself.
    replace(
      RegExp.prototype,
      Symbol.split,
      (former) =>
        function (this: RegExp, text: string, limit?: number): unknown {
          natives += 1 + text.length;
          const counts = RegExp.prototype.exec;
          RegExp.prototype.exec = plainExec;
          try {
            return former.apply(this as never, [text as never, limit as never]);
          } finally {
            RegExp.prototype.exec = counts;
          }
        },
    ),
  ];
}

const plainExec = RegExp.prototype.exec;

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[];
  }[];
}

/**
 * Open as long as the process is, and before it loads anything else (`vitest.config.ts`): V8 counts blocks of those functions
 * alone that it compiles meanwhile, and of others how often they are called, so that their loops would cost nothing.
 */
const session = new Session();
session.connect();
session.post("Profiler.enable");
session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });

/** All but the runner of tests, and this. */
const isCounted = (url: string): boolean =>
  !/^node:|\/(?:count|regexp)-steps\.ts|\/node_modules\/(?!@ghostery|acorn|jsonc-parser|tldts)/.test(url);

/** @param works one after the other; each leaves nothing behind that goes on. */
export async function countSteps(...works: readonly (() => unknown)[]): Promise<number[]> {
  const counts: number[] = [];
  for (const work of works) {
    takeBlocks();
    natives = 0;
    const undo = [...countStrings(), ...countLists(), ...countParsers()];
    try {
      await work();
    } finally {
      for (const each of undo.reverse()) each();
    }
    counts.push(takeBlocks() + natives);
  }
  return counts;
}

/** That ran since it was asked last. */
function takeBlocks(): number {
  let blocks = 0;
  session.post("Profiler.takePreciseCoverage", (_error: unknown, { result }: Coverage) => {
    for (const { url, functions } of result)
      if (isCounted(url)) for (const { ranges } of functions) for (const { count } of ranges) blocks += count;
  });
  return blocks;
}

/** Above this, work is measured again. */
const NEARLY_TWICE = 2.2;

/**
 * By what the cost of work grows where it is given twice as much. V8 forgets counts of code that it compiles anew meanwhile, once
 * in thousands of times: of three measures the least counts, since work that is not linear grows in each.
 */
export async function growthOf(work: (size: number) => unknown, size: number): Promise<number> {
  // What is made once for all is made before.
  await work(2);
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 3 && least > NEARLY_TWICE; attempt += 1) {
    const [once = 0, twice = 0] = await countSteps(
      () => work(size),
      () => work(2 * size),
    );
    least = Math.min(least, twice / once);
  }
  return least;
}
