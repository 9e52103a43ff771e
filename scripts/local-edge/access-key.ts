import { randomBytes } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

/** Everything that a local run keeps: where it was started, as npm does in the checkout, or ROPEWAY_STATE. */
export const stateRoot = resolve(process.env.ROPEWAY_STATE || ".ropeway");

/** Of the edge that `npm start` runs. */
export const LOCAL_KEY_FILE = "access-key";

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
  const kept = await readAccessKey(name);
  if (kept !== "") return { key: kept, isNew: false };
  const file = join(stateRoot, name);
  const key = newAccessKey();
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${key}\n`, { mode: 0o600 });
  return { key, isNew: true };
}

/** The next key in this file is a new one. */
export function forgetAccessKey(name: string): Promise<void> {
  return rm(join(stateRoot, name), { force: true });
}
