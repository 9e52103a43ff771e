/** `https://ropeway.example` for `https://s7k2ab.ropeway.example`: a slot's host is one label below the shell's. */
export function shellOriginOf(slotOrigin: string): string {
  const [scheme = "", host = ""] = slotOrigin.split("//");
  return `${scheme}//${host.slice(host.indexOf(".") + 1)}`;
}
