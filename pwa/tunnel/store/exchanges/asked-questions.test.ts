import { expect, it } from "vitest";
import { AskedQuestions } from "./asked-questions.ts";

const PAGE = "https://a.example/";

it("gives a question away once, and not after a minute", () => {
  let now = 0;
  const questions = new AskedQuestions(() => now);
  const question = { since: now, over: Promise.resolve() };
  questions.add("p", PAGE, question);
  expect([questions.take("q", PAGE), questions.take("p", PAGE), questions.take("p", PAGE)]).toEqual([
    null,
    question,
    null,
  ]);
  questions.add("p", PAGE, question);
  now += 60_001;
  expect(questions.take("p", PAGE)).toBe(null);
});
