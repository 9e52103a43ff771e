/** Name of the page script's Trusted Types policy; a page's `trusted-types` directive is made to admit it. */
export const TRUSTED_TYPES_POLICY = "ropeway";
