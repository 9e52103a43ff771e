/** What the script of the sheets takes from the shell's own, which is there already (scripts/build/of-shell.ts). */
export { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
export { Fragment, jsx, jsxs } from "preact/jsx-runtime";
export { SEARCH_ENGINES } from "../../app/search-engines.ts";
export { PAGE_BUDGETS, STORE_SIZES, savesData, WAIT_TIMES } from "../../app/settings-store.ts";
export { agoText, linkText, useNow } from "../bar/link-pill.tsx";
export { errorText } from "../pages/error-texts.ts";
export { connectionOf, SIGNS } from "../parts/connection.ts";
export { formatBytes, formatSaving, shortHost } from "../parts/format.ts";
export { Glyph, Icon } from "../parts/icons.tsx";
export { KeyForm } from "../parts/key-form.tsx";
export { SiteIcon } from "../parts/site-icon.tsx";
