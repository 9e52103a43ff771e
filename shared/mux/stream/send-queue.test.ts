import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as limits from "../../limits.ts";
import type { Priority } from "../../wire/frame.ts";
import { type Sender, SendQueue } from "./send-queue.ts";

interface Body extends Sender {
  name: string;
  priority: Priority;
  left: number;
  sentBytes: number;
}

interface BodyOptions {
  readonly whole?: boolean;
  readonly isEndOnly?: boolean;
}

/** A body of `left` pieces; of use in parts unless it is `whole`. Its order is that of its name. */
function body(name: string, urgency: number, left: number, options: BodyOptions = {}): Body {
  return {
    name,
    priority: { urgency, incremental: options.whole !== true },
    left,
    order: name.charCodeAt(0),
    sentBytes: 0,
    get ready() {
      if (this.left === 0) return "nothing";
      return options.isEndOnly ? "end" : "data";
    },
  };
}

/** Names in the order in which each sends one piece, until nobody can. */
function order(queue: SendQueue<Body>, hasCredit = true, pieceBytes = 1): string {
  let names = "";
  for (let next = queue.next(() => hasCredit); next !== undefined; next = queue.next(() => hasCredit)) {
    next.left -= 1;
    next.sentBytes += pieceBytes;
    names += next.name;
  }
  return names;
}

function queueOf(...bodies: readonly Body[]): SendQueue<Body> {
  const queue = new SendQueue<Body>();
  for (const sender of bodies) queue.add(sender);
  return queue;
}

describe("the order of sending", () => {
  test("is strict between urgencies", () => {
    expect(order(queueOf(body("c", 7, 2), body("b", 3, 2, { whole: true }), body("a", 0, 2)))).toBe("aabbcc");
  });

  test("is round-robin among bodies that are of use in parts", () => {
    expect(order(queueOf(body("L", 3, 5), body("s", 3, 1), body("m", 3, 2)))).toBe("LsmLmLLL");
  });

  test("is that of the requests among bodies that are of use only whole", () => {
    const [first, second, third] = ["a", "b", "c"].map((name) => body(name, 3, 2, { whole: true })) as [
      Body,
      Body,
      Body,
    ];
    const queue = queueOf(third, second);
    expect(queue.next(() => true)?.name).toBe("b");
    queue.add(first);
    expect(order(queue)).toBe("aabbcc");
  });

  test("lets the two kinds take turns", () => {
    const whole = { whole: true };
    expect(order(queueOf(body("a", 3, 2, whole), body("b", 3, 2, whole), body("x", 3, 3), body("y", 3, 2)))).toBe(
      "axaybxbyx",
    );
  });

  test("lets them take turns also where there is credit for one piece at a time", () => {
    const queue = queueOf(body("a", 3, 2, { whole: true }), body("b", 3, 2, { whole: true }), body("x", 3, 4));
    let names = "";
    for (let next = queue.next(() => true); next !== undefined; next = queue.next(() => true)) {
      next.left -= 1;
      names += next.name;
      expect(queue.next(() => false)).toBeUndefined();
    }
    expect(names).toBe("axaxbxbx");
  });

  test("makes a body that turns out large share with the others", () => {
    const queue = queueOf(body("a", 3, 6, { whole: true }), body("b", 3, 2, { whole: true }));
    expect(order(queue, true, limits.orderedBodyBytes / 2)).toBe("aaababaa");
  });

  test("gives a late stream of higher urgency the next turn", () => {
    const queue = queueOf(body("b", 3, 3));
    const first = queue.next(() => true);
    if (first) first.left -= 1;
    queue.add(body("a", 1, 1));
    expect(order(queue)).toBe("abb");
  });

  test("passes over streams that cannot send until they are added again", () => {
    const empty = body("e", 0, 0);
    const queue = queueOf(empty, body("b", 3, 1));
    expect(order(queue)).toBe("b");
    empty.left = 1;
    expect(order(queue)).toBe("");
    queue.add(empty);
    expect(order(queue)).toBe("e");
  });

  test("without credit, lets those go on that need none, and keeps the places of the others", () => {
    const queue = queueOf(body("a", 0, 1), body("b", 3, 2), body("e", 3, 1, { isEndOnly: true }), body("c", 3, 1));
    expect(order(queue, false)).toBe("e");
    expect(order(queue)).toBe("abcb");
  });

  test("forgets a stream that was removed, whatever its urgency was when it was added", () => {
    const sender = body("a", 3, 1);
    const queue = queueOf(sender);
    sender.priority = { ...sender.priority, urgency: 5 };
    queue.remove(sender);
    expect(order(queue)).toBe("");
  });
});

test("within one urgency, no stream in parts sends twice while another that can has not sent once", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 2, maxLength: 12 }), (lengths) => {
      const bodies = lengths.map((left, index) => body(String.fromCharCode(97 + index), 3, left));
      const sent = order(queueOf(...bodies));
      const rounds = Array.from({ length: Math.max(...lengths) }, (_, round) =>
        bodies.filter((_body, index) => (lengths[index] ?? 0) > round).map((sender) => sender.name),
      );
      expect(sent).toBe(rounds.flat().join(""));
    }),
  );
});
