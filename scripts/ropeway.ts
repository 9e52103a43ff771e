/** `npx ropeway`: what the package does. */
const COMMANDS: Readonly<Record<string, () => Promise<unknown>>> = {
  start: () => import("./serve.ts"),
  deploy: () => import("./deploy.ts"),
  smoke: () => import("./smoke.ts"),
};

const [name = "start"] = process.argv.splice(2, 1);
const command = COMMANDS[name];
if (command === undefined) {
  console.error(`Cannot run ${name}: there are ${Object.keys(COMMANDS).join(", ")}`);
  process.exitCode = 1;
} else await command();
