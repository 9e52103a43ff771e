import { expect, it } from "vitest";
import { registerPersistently } from "./boot-slot.ts";

function failing(...errors: Error[]) {
  const pauses: number[] = [];
  const registration = registerPersistently(
    async () => {
      const error = errors.shift();
      if (error !== undefined) throw error;
      return "registration";
    },
    async (time) => void pauses.push(time),
  );
  return { registration, pauses };
}

it("tries again, after a pause, while the script does not come", async () => {
  const { registration, pauses } = failing(new TypeError("Failed to fetch"), new TypeError("Failed to fetch"));
  expect(await registration).toBe("registration");
  expect(pauses).toEqual([2_000, 2_000]);
});

it("takes the browser's no for an answer", async () => {
  const { registration, pauses } = failing(new DOMException("No storage", "SecurityError"));
  await expect(registration).rejects.toThrow("No storage");
  expect(pauses).toEqual([]);
});
