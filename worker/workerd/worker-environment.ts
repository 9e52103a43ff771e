import type { ImagesBinding } from "../delivery/images/picture-codecs.ts";
import type { EdgeOptions } from "../front/edge-settings.ts";
import type { StateDiskBinding } from "./state-disk.ts";

/** Bindings of the Cloudflare deployment (wrangler.toml), and of a local workerd. */
export interface WorkerEnvironment extends EdgeOptions, StateDiskBinding {
  readonly TUNNEL: DurableObjectNamespace;
  /** Where a local workerd keeps the objects of TUNNEL. */
  readonly TUNNEL_DIRECTORY?: string;
  /** Has one object: the list of devices. */
  readonly DIRECTORY: DurableObjectNamespace;
  /** As TUNNEL_DIRECTORY. */
  readonly DIRECTORY_DIRECTORY?: string;
  readonly ASSETS: Fetcher;
  /** Where the person has it (docs/options.md): pictures are coded anew there, not on the edge's processor. */
  readonly IMAGES?: ImagesBinding;
}
