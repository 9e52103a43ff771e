/** `node e2e/bench/behaviours/make-files.ts`: writes the shipped behaviour files anew. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { writeWorkload } from "./behaviour-file.ts";
import { APPLICATIONS, FLOWS, makeWorkload, SHIPPED_SEED, VARIANTS } from "./models/application-model.ts";

export const SHIPPED_FILES = join(import.meta.dirname, "files");

/** Text by file name. */
export function shippedFiles(): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const application of APPLICATIONS) {
    for (const variant of VARIANTS) {
      const workload = makeWorkload(application, variant, SHIPPED_SEED);
      const comments = [
        `${workload.name}: ${FLOWS[application]}`,
        `Made by make-files.ts from application-model.ts with the seed ${SHIPPED_SEED}; do not edit`,
      ];
      files.set(`${workload.name}.tsv`, writeWorkload(workload, comments));
    }
  }
  return files;
}

if (import.meta.main) {
  await mkdir(SHIPPED_FILES, { recursive: true });
  for (const [name, text] of shippedFiles()) await writeFile(join(SHIPPED_FILES, name), text);
}
