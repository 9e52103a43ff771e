import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Sender, SendQueue } from "./send-queue.ts";

interface Body extends Sender {
  name: string;
  urgency: number;
  left: number;
  needsCredit: boolean;
}

function body(name: string, urgency: number, left: number, needsCredit = true): Body {
  return {
    name,
    urgency,
    left,
    needsCredit,
    get sendable() {
      return this.left > 0;
    },
  };
}

/** Names in the order in which each sends one piece, until nobody can. */
function order(queue: SendQueue<Body>, hasCredit = true): string {
  let names = "";
  for (let next = queue.next(hasCredit); next !== undefined; next = queue.next(hasCredit)) {
    next.left -= 1;
    names += next.name;
  }
  return names;
}

describe("the order of sending", () => {
  test("is strict between urgencies", () => {
    const queue = new SendQueue<Body>();
    for (const sender of [body("c", 7, 2), body("b", 3, 2), body("a", 0, 2)]) queue.add(sender);
    expect(order(queue)).toBe("aabbcc");
  });

  test("is round-robin within one urgency, so that a large body holds no small one back", () => {
    const queue = new SendQueue<Body>();
    for (const sender of [body("L", 3, 5), body("s", 3, 1), body("m", 3, 2)]) queue.add(sender);
    expect(order(queue)).toBe("LsmLmLLL");
  });

  test("gives a late stream of higher urgency the next turn", () => {
    const queue = new SendQueue<Body>();
    queue.add(body("b", 3, 3));
    const first = queue.next(true);
    if (first) first.left -= 1;
    queue.add(body("a", 1, 1));
    expect(order(queue)).toBe("abb");
  });

  test("passes over streams that cannot send until they are added again", () => {
    const queue = new SendQueue<Body>();
    const empty = body("e", 0, 0);
    queue.add(empty);
    queue.add(body("b", 3, 1));
    expect(order(queue)).toBe("b");
    empty.left = 1;
    expect(order(queue)).toBe("");
    queue.add(empty);
    expect(order(queue)).toBe("e");
  });

  test("without credit, lets those go on that need none, and keeps the places of the others", () => {
    const queue = new SendQueue<Body>();
    for (const sender of [body("a", 0, 1), body("b", 3, 2), body("e", 3, 1, false), body("c", 3, 1)]) queue.add(sender);
    expect(order(queue, false)).toBe("e");
    expect(order(queue)).toBe("abcb");
  });

  test("forgets a stream that was removed, whatever its urgency was when it was added", () => {
    const queue = new SendQueue<Body>();
    const sender = body("a", 3, 1);
    queue.add(sender);
    sender.urgency = 5;
    queue.remove(sender);
    expect(order(queue)).toBe("");
  });
});

test("within one urgency, no stream sends twice while another that can has not sent once", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 2, maxLength: 12 }), (lengths) => {
      const queue = new SendQueue<Body>();
      const bodies = lengths.map((left, index) => body(String.fromCharCode(97 + index), 3, left));
      for (const sender of bodies) queue.add(sender);
      const sent = order(queue);
      const rounds = Array.from({ length: Math.max(...lengths) }, (_, round) =>
        bodies.filter((_body, index) => (lengths[index] ?? 0) > round).map((sender) => sender.name),
      );
      expect(sent).toBe(rounds.flat().join(""));
    }),
  );
});
