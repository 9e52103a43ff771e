/** A class of experiment C made of what somebody recorded, in place of the shipped ones. */
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { Workload } from "./behaviour.ts";
import { readWorkload } from "./behaviour-file.ts";
import { type ReplayClass, replayClassOf } from "./classes.ts";
import { readHar } from "./har/har.ts";
import { harToWorkload } from "./har/har-to-behaviour.ts";

const ENDING = /\.(har|tsv)$/;

/**
 * @param file a HAR, or behaviours as `behaviour-file.ts` describes them. All its hosts are asked over TLS on port 443,
 *   under names of the laboratory's: `www.example.com` as `www.example.com.recorded.test`, which no site of it has.
 * @throws Error "Cannot read FILE …" or "Cannot convert NAME …" when it is neither.
 */
export async function recordedClass(file: string): Promise<ReplayClass> {
  return replayClassOf(inLaboratory(await readRecorded(file)));
}

async function readRecorded(file: string): Promise<Workload> {
  const [, ending] = ENDING.exec(file) ?? [];
  if (ending === undefined) throw new Error(`Cannot read ${file}: its name ends neither in .har nor in .tsv`);
  const text = await readFile(file, "utf8").catch((error: Error) => {
    throw new Error(`Cannot read ${file}: ${error.message}`);
  });
  const name = basename(file)
    .replace(ENDING, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-");
  if (ending === "tsv") return readWorkload(text, name, file);
  return harToWorkload(readHar(text, file), { name, habit: "recorded" }).workload;
}

function inLaboratory(workload: Workload): Workload {
  return {
    ...workload,
    behaviours: workload.behaviours.map((behaviour) => ({
      ...behaviour,
      requests: behaviour.requests.map((request) => ({ ...request, url: laboratoryUrl(request.url) })),
    })),
  };
}

function laboratoryUrl(url: string): string {
  const { hostname, pathname, search } = new URL(url);
  // Of an IPv6 address the brackets go.
  const labels = hostname.replaceAll(/[^a-z0-9.]+/g, "-").replaceAll(/(^|\.)-+|-+(?=\.|$)/g, "$1");
  return `https://${labels}.recorded.test${pathname}${search}`;
}
