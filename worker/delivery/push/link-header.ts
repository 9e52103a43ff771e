/** `Link` fields of a document (RFC 8288) that ask for a preload, as the element would say it. */

/** Only the first links of a field are looked at, and of a long one nothing. */
const [LINKS, LENGTH] = [32, 8_000];

const LINK = /[\s,]*<([^<>]*)>((?:\s*;\s*[\w*-]+(?:\s*=\s*(?:"[^"]*"|[^\s"';,]+))?)*)\s*(?:,|$)/y;
const PARAMETER = /;\s*([\w-]+)(?:\s*=\s*(?:"([^"]*)"|([^\s"';,]+)))?/g;

/** Attributes of `<link>`, names in lower case; those with the relations that browsers act on in a field. */
export function linksOf(field: string): Readonly<Record<string, string>>[] {
  const links: Record<string, string>[] = [];
  if (field.length > LENGTH) return links;
  LINK.lastIndex = 0;
  for (let found = LINK.exec(field); found !== null && links.length < LINKS; found = LINK.exec(field)) {
    const [, href = "", parameters = ""] = found;
    const all = [...parameters.matchAll(PARAMETER)].map(([, name = "", quoted, token]) => [
      name.toLowerCase(),
      quoted ?? token ?? "",
    ]);
    // The first of a name counts.
    const attributes: Record<string, string> = { ...Object.fromEntries(all.reverse()), href };
    if (/^(?:preload|modulepreload)$/i.test(attributes.rel ?? "")) links.push(attributes);
  }
  return links;
}
