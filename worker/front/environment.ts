/** What a deployment configures: docs/options.md. */
export interface EdgeOptions {
  /** Without it nobody gets a tunnel. */
  readonly ROPEWAY_ACCESS_KEY?: string;
  /** Base host under which slots live (no port); unset where there is only one host. */
  readonly ROPEWAY_HOST?: string;
  /** Hosts of slots where there is no wildcard: `readSlotHosts`. */
  readonly ROPEWAY_SLOT_HOSTS?: string;
  /** "1": the edge may reach loopback and private addresses. */
  readonly ROPEWAY_ALLOW_PRIVATE?: string;
  /** "0": phones of this edge share no responses. */
  readonly ROPEWAY_SHARED_CACHE?: string;
  /** Addresses of block lists, parted by spaces; "0" for none, EasyPrivacy by default. */
  readonly ROPEWAY_BLOCK_LISTS?: string;
  /** "1": a proxy of one's own says who asks (`forwarded.ts`). */
  readonly ROPEWAY_BEHIND_PROXY?: string;
  /** "free" or "paid": what the platform's plan leaves room for; "paid" by default. */
  readonly ROPEWAY_PLAN?: string;
  /** What is there as long as the internet is, with spaces between; "0": the edge does not find out whether it is. */
  readonly ROPEWAY_KNOWN_HOSTS?: string;
  /** URL of the demo site when the edge runs locally. */
  readonly ROPEWAY_DEMO_URL?: string;
  /** Origins of the demo site, separated by spaces: reachable even though they are on loopback. */
  readonly ROPEWAY_DEMO_ORIGINS?: string;
}
