/** What the package does, once the Node is known to be new enough (ropeway.mjs). */
import { answerHelp } from "./command-line.mjs";

const COMMANDS: Readonly<Record<string, () => Promise<unknown>>> = {
  start: () => import("./serve.ts"),
  deploy: () => import("./deploy.ts"),
  smoke: () => import("./smoke.ts"),
};

const [first = "", ...others] = process.argv.slice(2);
// An option is one of `start`.
const isNamed = first !== "" && !first.startsWith("-");
const name = isNamed ? first : "start";
const command = COMMANDS[name];
if (command === undefined) {
  console.error(`Cannot run ${name}: there are ${Object.keys(COMMANDS).join(", ")}; --help says more`);
  process.exitCode = 1;
} else {
  if (isNamed) {
    process.argv.splice(2, 1);
    answerHelp(name, others);
  } else answerHelp("ropeway", process.argv.slice(2));
  await command();
}
