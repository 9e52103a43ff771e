/** Begins the key of a history entry that is known by its address alone: no key of the Navigation API has a space. */
export const ADDRESS_KEY = "at ";

/**
 * The Navigation API's key of the entry; where there is none the address, which the shell takes for the entry next to
 * the one shown that has it.
 */
export function entryKey(navigation: Navigation | undefined, href: string): string {
  return navigation?.currentEntry?.key ?? ADDRESS_KEY + href;
}
