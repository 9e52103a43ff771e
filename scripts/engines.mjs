/**
 * `npm run test:engines`: walks through the app in Firefox and WebKit, which it gets first where it can.
 * `npm run test:engines -- firefox` in that one only.
 */
import { join } from "node:path";
import { answerHelp } from "./command-line.mjs";
import { ensureDependencies, fail, projectEnvironment, projectNode, root, run } from "./install/bootstrap.mjs";
import { installPackages, isInstalled } from "./install/debian-packages.mjs";

/** Debian's packages by program, for each engine. Other systems' Firefox has another name. */
const PACKAGES = {
  firefox: [{ programs: ["firefox-esr", "firefox"], name: "firefox-esr" }],
  webkit: [
    { programs: ["WebKitWebDriver"], name: "webkit2gtk-driver" },
    { programs: ["Xvfb"], name: "xvfb" },
  ],
};

const wanted = process.argv.slice(2);
answerHelp("test:engines", wanted);
const unknown = wanted.filter((name) => !(name in PACKAGES));
if (unknown.length > 0)
  fail(`Cannot walk in ${unknown.join(", ")}: engines are ${Object.keys(PACKAGES).join(" and ")}`);

await ensureDependencies();
await installPackages(missing());
if (missing().length > 0) fail(`Cannot walk: install these packages first: ${missing().join(", ")}`);
const engines = wanted.length > 0 ? wanted : Object.keys(PACKAGES);
process.exitCode = await run(projectNode(), [join(root, "e2e", "engines", "run.ts"), ...engines], {
  env: projectEnvironment(),
});

function missing() {
  const packages = Object.entries(PACKAGES).flatMap(([engine, needed]) =>
    wanted.length === 0 || wanted.includes(engine) ? needed : [],
  );
  return packages.filter(({ programs }) => !programs.some(isInstalled)).map(({ name }) => name);
}
