import { expect, it } from "vitest";
import { undoCodings } from "./response-body.ts";

/** 64 MB of zeros. */
const BOMB = "z///fwAkAOKxQHLv//n//w+ABEAcFoDu/T////8BkACIwwLQvf/P//9/ABIAcVgAuvf/";

it("what a few bytes of brotli hold comes as it is read, and nobody waits for it", async () => {
  const bytes = Uint8Array.from(atob(BOMB), (each) => each.charCodeAt(0));
  const source = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  });
  const reader = undoCodings(source, ["br"], "a.example").getReader();
  let [most, sum] = [0, 0];
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    most = Math.max(most, value.byteLength);
    sum += value.byteLength;
  }
  clearInterval(timer);
  expect(sum).toBe(64 * 1024 * 1024);
  expect(most).toBeLessThanOrEqual(128 * 1024);
  expect(turns).toBeGreaterThanOrEqual(8);
});
