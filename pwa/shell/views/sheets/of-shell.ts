/** The scripts that the shell loads late take these from its own, which is there already (scripts/build/of-shell.ts). */
export { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
export { Fragment, jsx, jsxs } from "preact/jsx-runtime";
export {
  keptLanguage,
  LANGUAGE_KEY,
  numberText,
  reasonText,
  SOURCE,
  speak,
  spokenLanguage,
  t,
  tParts,
} from "../../app/language.ts";
export {
  DEFAULT_SEARCH_URL,
  PAGE_BUDGETS,
  STORE_SIZES,
  savesData,
  sizeOf,
  WAIT_TIMES,
  withSize,
  ZOOMS,
} from "../../app/settings.ts";
export { parseAddress } from "../../tab/address-input.ts";
export { agoText, linkText, useNow } from "../bar/link-pill.tsx";
export { errorText, PAST, VERSIONS } from "../pages/error-view.tsx";
export { formatBytes, formatSaving, shortHost } from "../parts/format.ts";
export { connectionOf, Glyph, Host, Icon, SIGNS, SiteIcon } from "../parts/icons.tsx";
export { KeyForm } from "../parts/key-form.tsx";
export { useId } from "../ui.ts";
