/**
 * `npx ropeway`: the door of the package. Any Node of the last ten years can read it: it has no syntax that is younger, and
 * loads nothing before it has looked which Node this is.
 */
const OLDEST_NODE = 22;

if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  const { node } = process.versions;
  console.error(`Cannot run Ropeway: this is Node ${node}, and it needs ${OLDEST_NODE} or newer (https://nodejs.org)`);
  process.exitCode = 1;
} else {
  void import("./ropeway.ts");
}
