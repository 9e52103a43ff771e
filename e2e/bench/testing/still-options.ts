import { seededRandom } from "../../demo/random.ts";
import type { ExecuteOptions } from "../execute.ts";

/** Three rounds and a warm-up on a machine where time stands still; told to nobody, kept nowhere. */
export const STILL_OPTIONS: ExecuteOptions = {
  rounds: 3,
  precision: 0.03,
  warmUpRounds: 1,
  random: seededRandom(1),
  now: () => 0,
  processorTime: () => ({ busy: 0, total: 0 }),
  tell: () => {},
  keep: async () => {},
};
