/** The configuration of wrangler: wrangler.toml as it stands in the checkout, with the host that was asked for. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "smol-toml";
import { readBaseHost } from "../../worker/front/edge-settings.ts";
import { appDirectory, isPackage, root, workerDirectory } from "../build/paths.ts";
import type { Worker } from "./platform.ts";

export interface DeployFlags {
  /** Base host, with a wildcard below it. */
  readonly host?: string | undefined;
  /** Zone that it is in, as Cloudflare lists it; the host itself by default. */
  readonly zone?: string | undefined;
}

export interface DeployConfig {
  readonly worker: Worker;
  /** Null where the platform names it. */
  readonly host: string | null;
  readonly compatibilityDate: string;
  /** ROPEWAY_PLAN is among its variables, where no secret may have that name. */
  readonly hasPlan: boolean;
}

type WranglerConfig = Record<string, unknown> & { readonly vars?: Record<string, unknown> };

/** @param directory for a configuration of its own, where wrangler.toml alone will not do. */
export async function writeDeployConfig(directory: string, flags: DeployFlags): Promise<DeployConfig> {
  const file = join(root, "wrangler.toml");
  const original: WranglerConfig = parse(await readFile(file, "utf8"));
  const config = deployConfig(original, flags, isPackage);
  const host = typeof config.vars?.ROPEWAY_HOST === "string" ? config.vars.ROPEWAY_HOST : "";
  const isOwn = isPackage || flags.host !== undefined;
  const path = isOwn ? join(directory, "wrangler.json") : file;
  if (isOwn) await writeFile(path, JSON.stringify(config, null, 2));
  return {
    worker: { name: String(config.name), config: path },
    host: host === "" ? null : host,
    compatibilityDate: String(config.compatibility_date),
    hasPlan: config.vars?.ROPEWAY_PLAN !== undefined,
  };
}

/** With all paths absolute, since it lies elsewhere. */
export function deployConfig(
  { build, assets, main, minify, ...rest }: WranglerConfig,
  { host, zone }: DeployFlags,
  isBuilt: boolean,
): WranglerConfig {
  const ofHost = host === undefined ? {} : hostConfig(readBaseHost(host), zone ?? host, rest.vars ?? {});
  const what = isBuilt
    ? { main: join(workerDirectory, "worker.js"), no_bundle: true }
    : { main: join(root, String(main)), minify, build: { ...(build as object), cwd: root } };
  return { ...rest, ...what, ...ofHost, assets: { ...(assets as object), directory: appDirectory } };
}

function hostConfig(host: string, zone: string, vars: Record<string, unknown>): WranglerConfig {
  const routes = [host, `*.${host}`].map((name) => ({ pattern: `${name}/*`, zone_name: zone }));
  return { routes, vars: { ...vars, ROPEWAY_HOST: host } };
}
