/** What of the way of a response takes the edge's processor: costs of sources, by the room that they are in. */
import type { CodeCost, ThreadCost } from "./model.ts";

/** The first whose pattern a source's path has. */
const STAGES: readonly (readonly [pattern: RegExp, stage: string])[] = [
  [/^shared\/(?:wire|mux)\//, "frames, credit and heads of the link"],
  [/^shared\/(?:coding|fetch-road)\//, "codings and the fetch road"],
  [/^worker\/session\/|^shared\/subprotocol/, "sessions and sockets"],
  [/^worker\/shared-cache\/|^shared\/http-cache\/|^@noble\//, "the shared cache"],
  [/^worker\/upstream\/response-body/, "reading origins' bodies"],
  [/^worker\/upstream\//, "rules of Fetch, cookies, asking origins"],
  [/^worker\/push\/|^shared\/web\/html-tokens/, "pushes: reading documents"],
  [/^worker\/delivery\/dictionaries|^@bokuweb\//, "coding against what the phone has"],
  [/^worker\/delivery\/images\/|^@jsquash\//, "pictures"],
  [/^worker\/delivery\/coding/, "coding for the link"],
  [/^worker\/delivery\//, "the other stages of delivery"],
  [/^shared\//, "requests and rules of the web"],
  [/^worker\//, "entries"],
  [/^(?:built-in|native code)$/, "the platform: fetch, sockets, zlib"],
  [/^garbage collector$/, "garbage collector"],
];

/** The largest first. */
export function edgeStages(sources: readonly CodeCost[]): ThreadCost[] {
  const stageOf = ({ source }: CodeCost) => STAGES.find(([pattern]) => pattern.test(source))?.[1] ?? "packages";
  const groups = Map.groupBy(sources, stageOf);
  return [...groups]
    .map(([thread, costs]) => ({ thread, time: costs.reduce((sum, { time }) => sum + time, 0) }))
    .toSorted((one, other) => other.time - one.time);
}
