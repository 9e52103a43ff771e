import { expect, it } from "vitest";
import { isJsonText } from "./json-tree.ts";

/** With how often it has stopped. */
function asked(text: string): readonly [isJson: boolean, stops: number] {
  const work = isJsonText(text);
  for (let stops = 0; ; stops += 1) {
    const step = work.next();
    if (step.done === true) return [step.value, stops];
  }
}

it("takes what the grammar has", () => {
  for (const text of [
    "1",
    '"a"',
    " null ",
    "[]",
    "{}",
    '{"a":{"b":[1,2.50e+3,-0,true,false,null,{}]},"a":"\\u00e9\\n"}',
    "\r\n[\t1 ]",
  ])
    expect(asked(text)[0], text).toBe(true);
});

it("takes nothing else", () => {
  for (const text of [
    ...[
      "",
      "[",
      "]",
      "{",
      "[}",
      "{]",
      "[1,]",
      "[,1]",
      "[1 2]",
      "1 2",
      "[]]",
      "[1]x",
      "// a\n1",
      "[/* a */]",
      "nul",
      "01",
    ],
    ...[
      '{"a"}',
      '{"a":}',
      '{"a":1,}',
      "{a:1}",
      '{"a":1 "b":2}',
      '{"a" 1}',
      '"a',
      '"\n"',
      '"\\x"',
      "'a'",
      "-",
      "1.",
      "[+1]",
    ],
    ")]}'\n[1]",
  ])
    expect(asked(text)[0], text).toBe(false);
  expect(asked("[".repeat(1_000_000))[0]).toBe(false);
});

it("stops now and then in a large text", () => {
  const [isJson, stops] = asked(`[${"1,".repeat(100_000)}1]`);
  expect(isJson).toBe(true);
  expect(stops).toBeGreaterThan(100);
});
