/**
 * The demo site runs on loopback beside a local edge, so its origins, and only those, are exempt from the rule that
 * loopback is not reached.
 *
 * @param origins ROPEWAY_DEMO_ORIGINS: serialized origins, separated by spaces.
 */
export function demoExemption(origins: string | undefined): (url: URL) => boolean {
  const exempt = new Set((origins ?? "").split(" ").filter((origin) => origin !== ""));
  return (url) => exempt.has(url.origin);
}
