import type { EdgeOptions } from "./environment.ts";

/** Bindings of the Cloudflare deployment: wrangler.toml. */
export interface WorkerEnvironment extends EdgeOptions {
  readonly TUNNEL: DurableObjectNamespace;
  readonly ASSETS: Fetcher;
}
