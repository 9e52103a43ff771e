import { randomBytes } from "node:crypto";
import { chmod, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { closeAll } from "./state-directory.ts";

/** Everything that a local run keeps: where it was started, as npm does in the checkout, or ROPEWAY_STATE. */
export const stateRoot = resolve(process.env.ROPEWAY_STATE || ".ropeway");

/** Of the edge that `npm start` runs. */
export const LOCAL_KEY_FILE = "access-key";

/** Of the edge that `npm run deploy` deployed: a key that was in a terminal's scrollback is not one for the internet. */
export const DEPLOYED_KEY_FILE = "deployed-access-key";

/** Of the edge that `npm start` runs. */
const STATE = "state";

/**
 * Makes the folder of all state where it is missing, and closes to other accounts what there is of ours; the folder
 * itself if nothing else is in it, since anybody's may have been named.
 *
 * @returns where the edge keeps its state in it.
 */
export async function openStateRoot(root = stateRoot): Promise<string> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  const ours = [LOCAL_KEY_FILE, DEPLOYED_KEY_FILE, STATE];
  await closeAll(ours.map((name) => join(root, name)));
  const names = await readdir(root);
  if (names.every((name) => ours.includes(name))) await chmod(root, 0o700);
  return join(root, STATE);
}

/** 192 bits, as 32 characters that need no escaping anywhere. */
export function newAccessKey(): string {
  return randomBytes(24).toString("base64url");
}

/** The key in the file; "" where there is none. */
export async function readAccessKey(name: string): Promise<string> {
  return (await readFile(join(stateRoot, name), "utf8").catch(() => "")).trim();
}

/** The key in the file, made on first use; the file is for its owner's eyes only. */
export async function keptAccessKey(name: string): Promise<{ readonly key: string; readonly isNew: boolean }> {
  await openStateRoot();
  const kept = await readAccessKey(name);
  if (kept !== "") return { key: kept, isNew: false };
  const file = join(stateRoot, name);
  const key = newAccessKey();
  await writeFile(file, `${key}\n`, { mode: 0o600 });
  return { key, isNew: true };
}

/** The next key in this file is a new one. */
export function forgetAccessKey(name: string): Promise<void> {
  return rm(join(stateRoot, name), { force: true });
}
