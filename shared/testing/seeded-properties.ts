/** Before each file of tests: properties are tried with what follows from the seed of the run. */
import fc from "fast-check";
import { runSeed } from "./random.ts";

fc.configureGlobal({ seed: runSeed() | 0 });
