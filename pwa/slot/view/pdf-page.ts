/** The page that a PDF is shown in, until its viewer is there: how much comes, and a way to keep the file at once. */

import { marked, t } from "../words.ts";
import type { PdfHost } from "./pdf-viewer.ts";
import { button, element } from "./tree.ts";

/** The viewer's size on the link, with brotli, for the first PDF only. `scripts/build/budgets.ts` holds the viewer to it. */
const VIEWER_SIZE = "450 KB";

/** @returns what makes the texts of all pages, for a search. */
export function pdfPage(root: ShadowRoot): () => Promise<void> {
  const place = element("main", "pdf");
  // pdf.js measures letters in the document.
  const measured = element("div", "away", element("slot", ""));
  measured.ariaHidden = "true";
  root.append(place, measured);
  const ready = open(place).catch((error: unknown) => {
    const text = error instanceof Error ? error.message : "";
    place.replaceChildren(
      notice(
        text || t("Cannot show the file"),
        button(t("Try again"), () => location.reload()),
        saveLink(),
      ),
    );
    return async () => {};
  });
  return async () => (await ready)();
}

async function open(place: HTMLElement): Promise<() => Promise<void>> {
  const said = element("p", "", t("Loading the PDF viewer: {size}, once", { size: VIEWER_SIZE }));
  said.role = "status";
  place.append(notice(said, element("progress", ""), saveLink()));
  const library = `${location.origin}/.ropeway/page.js`;
  const viewer: Promise<typeof import("./pdf-viewer.ts")> = import(`${library}?pdf`);
  const { showPdf } = await viewer.catch(() => {
    throw new Error(t("Cannot load the PDF viewer: the link is gone"));
  });
  said.textContent = t("Loading the file");
  const host: PdfHost = {
    url: location.href.split("#", 1)[0] ?? "",
    workerUrl: `${library}?pdf-worker`,
    place,
    t,
    marked,
    save: saveLink(),
    askPassword: (wasWrong) => askPassword(place, wasWrong),
    onProgress(got, all) {
      const part = Math.ceil(got / 1000);
      const size = Math.ceil((all ?? 0) / 1000);
      said.textContent =
        all === null
          ? t("Loading the file: {part} KB", { part })
          : t("Loading the file: {part} of {size} KB", { part, size });
    },
    onLost: (status) =>
      place.replaceChildren(
        notice(
          status === null
            ? t("The file has changed on its server")
            : t("Cannot show the file: the site answered with {status}", { status: String(status) }),
          button(t("Load it again"), () => location.reload()),
        ),
      ),
  };
  return await showPdf(host).catch((error: unknown) => {
    const isBroken = error instanceof Error && error.name === "InvalidPDFException";
    throw isBroken ? new Error(t("Cannot show the file: it is broken, or no PDF")) : error;
  });
}

function notice(...content: readonly (string | HTMLElement)[]): HTMLElement {
  const [first = "", ...others] = content;
  return marked(element("div", "notice", typeof first === "string" ? element("p", "", first) : first, ...others));
}

/** The app keeps the PDF as it keeps other files, also where the viewer fails. */
function saveLink(): HTMLElement {
  const link = element("a", "save", t("Save"));
  link.href = location.href;
  link.download = "";
  return link;
}

function askPassword(place: HTMLElement, wasWrong: boolean): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const field = element("input", "");
  field.type = "password";
  field.autocomplete = "off";
  const text = wasWrong
    ? t("That password does not open the file. Its password:")
    : t("The file is locked. Its password:");
  const form = element("form", "", element("label", "", text, field), element("button", "", t("Open")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    event.stopPropagation();
    resolve(field.value);
  });
  place.replaceChildren(notice(form, saveLink()));
  field.focus();
  return promise;
}
