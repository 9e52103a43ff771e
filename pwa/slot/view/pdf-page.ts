/** The page that a PDF is shown in, until its viewer is there: how much comes, and a way to keep the file at once. */
import type { PdfHost } from "./pdf-viewer.ts";
import { button, element } from "./tree.ts";

/** What comes over the link for the first PDF, with brotli, and not again. `scripts/build/budgets.ts` holds the viewer to it. */
const VIEWER_SIZE = "450 KB";

/** @returns what makes the texts of all pages, for a search. */
export function pdfPage(root: ShadowRoot): () => Promise<void> {
  const place = element("div", "pdf");
  // pdf.js measures letters in the document.
  const measured = element("div", "away", element("slot", ""));
  measured.ariaHidden = "true";
  root.append(place, measured);
  const ready = open(place).catch((error: unknown) => {
    const text = error instanceof Error && error.message !== "" ? error.message : "Cannot show the file";
    place.replaceChildren(
      notice(
        text,
        button("Try again", () => location.reload()),
        saveLink(),
      ),
    );
    return async () => {};
  });
  return async () => (await ready)();
}

async function open(place: HTMLElement): Promise<() => Promise<void>> {
  const said = element("p", "", `Loading the PDF viewer: ${VIEWER_SIZE}, once`);
  said.role = "status";
  place.append(notice(said, element("progress", ""), saveLink()));
  const library = `${location.origin}/.ropeway/page.js`;
  const viewer: Promise<typeof import("./pdf-viewer.ts")> = import(`${library}?pdf`);
  const { showPdf } = await viewer.catch(() => {
    throw new Error("Cannot load the PDF viewer: the link is gone");
  });
  said.textContent = "Loading the file";
  const host: PdfHost = {
    url: location.href.split("#", 1)[0] ?? "",
    workerUrl: `${library}?pdf-worker`,
    place,
    save: saveLink(),
    askPassword: (wasWrong) => askPassword(place, wasWrong),
    onProgress(got, all) {
      const kilobytes = (bytes: number) => Math.ceil(bytes / 1000).toLocaleString();
      said.textContent =
        all === null
          ? `Loading the file: ${kilobytes(got)} KB`
          : `Loading the file: ${kilobytes(got)} of ${kilobytes(all)} KB`;
    },
    onChanged: () =>
      place.replaceChildren(
        notice(
          "The file has changed on its server",
          button("Load it again", () => location.reload()),
        ),
      ),
  };
  return await showPdf(host).catch((error: unknown) => {
    const isBroken = error instanceof Error && error.name === "InvalidPDFException";
    throw isBroken ? new Error("Cannot show the file: it is broken, or no PDF") : error;
  });
}

function notice(...content: readonly (string | HTMLElement)[]): HTMLElement {
  const [first = "", ...others] = content;
  return element("div", "notice", typeof first === "string" ? element("p", "", first) : first, ...others);
}

/** Whatever the viewer does, the app keeps files as it keeps others. */
function saveLink(): HTMLElement {
  const link = element("a", "save", "Save");
  link.href = location.href;
  link.download = "";
  return link;
}

function askPassword(place: HTMLElement, wasWrong: boolean): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const field = element("input", "");
  field.type = "password";
  field.autocomplete = "off";
  const text = wasWrong ? "That password does not open the file. Its password:" : "The file is locked. Its password:";
  const form = element("form", "", element("label", "", text, field), element("button", "", "Open"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    event.stopPropagation();
    resolve(field.value);
  });
  place.replaceChildren(notice(form, saveLink()));
  field.focus();
  return promise;
}
