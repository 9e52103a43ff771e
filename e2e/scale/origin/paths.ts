/** What the origin has, and the field that says what its bytes add up to: CRC-32 of the body, as a number. */
export const PATHS = { small: "/small", page: "/page/", object: "/object/", large: "/large/", form: "/form" } as const;

export const CHECK_FIELD = "x-check";
