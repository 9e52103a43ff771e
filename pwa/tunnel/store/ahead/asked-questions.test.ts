import { expect, it } from "vitest";
import { AskedQuestions } from "./asking-ahead.ts";

const PAGE = "https://a.example/";

it("gives a question away once, and not a minute from then, whichever way the clock was set", () => {
  let now = 0;
  const questions = new AskedQuestions(() => now);
  const question = { since: now, over: Promise.resolve(), scriptsOf: null };
  questions.add("p", PAGE, question);
  expect([questions.take("q", PAGE), questions.take("p", PAGE), questions.take("p", PAGE)]).toEqual([
    null,
    question,
    null,
  ]);
  for (const moved of [60_001, -60_001]) {
    questions.add("p", PAGE, question);
    now = moved;
    expect(questions.take("p", PAGE)).toBe(null);
  }
});
