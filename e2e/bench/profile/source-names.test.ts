import { describe, expect, it } from "vitest";
import { declaredName } from "./source-names.ts";

/** The name at the place of the mark. */
function nameAt(marked: string): string | undefined {
  return declaredName(marked.replace("|", ""), marked.indexOf("|"));
}

describe("declaredName", () => {
  it.each([
    ["function drain|(queue: Queue): void {", "drain"],
    ["|function drain(queue: Queue): void {", "drain"],
    ["  #receive|(message: Message): void {", "#receive"],
    ["  |#receive(message: Message): void {", "#receive"],
    ["  |async answer(request: Request) {", "answer"],
    ["  async pull|(controller) {", "pull"],
    ["  const tell = |(line: string) => {", "tell"],
    ["  onBody: |(chunk) => {", "onBody"],
    ["  if |(a) {", undefined],
    ["  |", undefined],
  ])("%s", (marked, name) => expect(nameAt(marked)).toBe(name));
});
