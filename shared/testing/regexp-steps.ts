/**
 * Counts what an expression costs an engine that goes back, as those of browsers do: each character that it looks at, and
 * each way that it tries. V8 does that, too, and tells nobody.
 */
import { type AST, RegExpParser } from "@eslint-community/regexpp";

/** Of an expression. Ways lead to steps so many further on; the first is tried first. */
type Step =
  | { readonly kind: "character"; readonly lengthAt: (text: string, at: number) => number | null }
  | { readonly kind: "place"; readonly isHere: (text: string, at: number) => boolean }
  | { readonly kind: "ahead"; readonly steps: readonly Step[]; readonly wanted: boolean }
  | { readonly kind: "ways"; readonly ways: readonly number[] };

/** As it was before anything counts its calls. */
const { exec } = RegExp.prototype;

const programs = new Map<string, readonly Step[]>();

/**
 * @param from the first place that it is tried at.
 * @returns the place at which it matches, too; null: at none.
 */
export function tryExpression(
  { source, flags, sticky }: RegExp,
  text: string,
  from: number,
): { readonly index: number | null; readonly steps: number } {
  const kept = flags.replace(/[dgy]/g, "");
  const name = `${kept}/${source}`;
  let program = programs.get(name);
  if (program === undefined) {
    const modes = { unicode: kept.includes("u"), unicodeSets: kept.includes("v") };
    const { alternatives } = new RegExpParser().parsePattern(source, 0, source.length, modes);
    program = stepsOfAny(alternatives, kept);
    programs.set(name, program);
  }
  const count = { steps: 0 };
  const last = sticky ? from : text.length;
  for (let at = from; at <= last; at += 1) if (run(program, text, at, count)) return { index: at, steps: count.steps };
  return { index: null, steps: count.steps };
}

/** Goes back to the way that was passed by last. @returns whether it matches at the place. */
function run(program: readonly Step[], text: string, from: number, count: { steps: number }): boolean {
  const waiting: number[] = [0, from];
  while (waiting.length > 0) {
    let at = waiting.pop() as number;
    let next = waiting.pop() as number;
    for (let goesOn = true; goesOn; ) {
      count.steps += 1;
      const step = program[next];
      if (step === undefined) return true;
      if (step.kind === "ways") {
        for (let way = step.ways.length - 1; way > 0; way -= 1) waiting.push(next + (step.ways[way] as number), at);
        next += step.ways[0] as number;
        continue;
      }
      const length = step.kind === "character" ? step.lengthAt(text, at) : isHere(step, text, at, count) ? 0 : null;
      goesOn = length !== null;
      at += length ?? 0;
      next += 1;
    }
  }
  return false;
}

function isHere(
  step: Exclude<Step, { readonly kind: "character" | "ways" }>,
  text: string,
  at: number,
  count: { steps: number },
): boolean {
  return step.kind === "place" ? step.isHere(text, at) : run(step.steps, text, at, count) === step.wanted;
}

function stepsOfAny(alternatives: readonly AST.Alternative[], flags: string): readonly Step[] {
  return alternatives
    .map(({ elements }) => elements.flatMap((element) => stepsOf(element, flags)))
    .reduceRight((others, one) => [[ways(1, one.length + 2)], one, [ways(others.length + 1)], others].flat());
}

const ways = (...all: readonly number[]): Step => ({ kind: "ways", ways: all });

function stepsOf(element: AST.Element, flags: string): readonly Step[] {
  switch (element.type) {
    case "Quantifier":
      return repeated(element, stepsOf(element.element, flags));
    case "Group":
    case "CapturingGroup":
      return stepsOfAny(element.alternatives, flags);
    case "Assertion":
      if (element.kind !== "lookahead") return [placeOf(element.raw, flags)];
      return [{ kind: "ahead", steps: stepsOfAny(element.alternatives, flags), wanted: !element.negate }];
    case "Backreference":
      // Whatever its group may match: near enough.
      return [element.resolved].flat().flatMap(({ alternatives }) => stepsOfAny(alternatives, flags));
    default:
      return [characterOf(element.raw, flags)];
  }
}

function repeated({ min, max, greedy, raw }: AST.Quantifier, once: readonly Step[]): readonly Step[] {
  const either = (on: number, past: number): Step => (greedy ? ways(on, past) : ways(past, on));
  const least = Array.from({ length: min }, () => once).flat();
  if (max !== Number.POSITIVE_INFINITY) {
    let most: readonly Step[] = [];
    for (let more = min; more < max; more += 1) most = [either(1, once.length + most.length + 1), ...once, ...most];
    return [...least, ...most];
  }
  if (run(once, "", 0, { steps: 0 })) throw new Error(`Cannot count ${raw}: it repeats what may be empty`);
  return [...least, either(1, once.length + 2), ...once, ways(-once.length - 1)];
}

function placeOf(raw: string, flags: string): Step {
  const expression = new RegExp(raw, `${flags}y`);
  return {
    kind: "place",
    isHere(text, at) {
      expression.lastIndex = at;
      return exec.call(expression, text) !== null;
    },
  };
}

function characterOf(raw: string, flags: string): Step {
  const expression = new RegExp(raw, `${flags}y`);
  const known = new Map<number, number | null>();
  const isWhole = /[uv]/.test(flags);
  return {
    kind: "character",
    lengthAt(text, at) {
      const code = isWhole ? text.codePointAt(at) : text.charCodeAt(at);
      if (code === undefined || Number.isNaN(code)) return null;
      let length = known.get(code);
      if (length === undefined) {
        expression.lastIndex = at;
        length = exec.call(expression, text)?.[0].length ?? null;
        known.set(code, length);
      }
      return length;
    },
  };
}
