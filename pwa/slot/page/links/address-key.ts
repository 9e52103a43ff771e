/** Begins the key of a history entry that is known by its address alone: no key of the Navigation API has a space. */
export const ADDRESS_KEY = "at ";
