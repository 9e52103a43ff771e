import { useEffect, useRef, useState } from "preact/hooks";
import { later } from "../../../../shared/errors.ts";
import { t } from "../../app/language.ts";
import { tCount } from "../../app/language-choice.ts";
import type { BrowserActions } from "../../app/state.ts";
import { type Entry, type Library, ROOT, START_PAGE, type Undo } from "../../library/library.ts";
import { shortHost } from "../parts/format.ts";
import { Glyph, Host, Icon, SiteIcon } from "../parts/icons.tsx";
import { type Ui, useId } from "../ui.ts";
import { FileButtons } from "./file-buttons.tsx";
import { type Done, doneOf, UndoBar } from "./undo-bar.tsx";

/** Rows shown before the person asks for more, and so many more each time. */
const ROWS = 100;

const NO_PINS = later("Pages that you pin will be here, and on the start page.");

const FOLDER = "M3.5 6.5a1 1 0 0 1 1-1h5l2 2.5h8a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1h-15a1 1 0 0 1-1-1z";

interface BookmarkProps {
  readonly library: Library;
  readonly actions: BrowserActions;
  readonly ui: Ui;
}

/** Bookmarks in their folders; the first is that of the start page. */
export function BookmarkList({ library, actions, ui }: BookmarkProps) {
  const [folder, setFolder] = useState(ROOT);
  const [rows, setRows] = useState(ROWS);
  /** The id of the one whose name and place are asked for. */
  const [changed, setChanged] = useState<number | null>(null);
  const [done, setDone] = useState<Done | null>(null);
  const entries = library.entriesIn(folder);
  if (entries === null) return <p class="fine">{t("Reading…")}</p>;
  const say = async (text: string, doing: Promise<Undo | null>) => {
    setChanged(null);
    const undo = await doing;
    setDone(doneOf(text, undo));
  };
  const enter = (id: number) => {
    setChanged(null);
    setRows(ROWS);
    setFolder(id);
  };
  const open = (url: string) => {
    ui.change({ sheet: null });
    actions.tab.go(url);
  };
  return (
    <>
      <FolderHead library={library} folder={folder} onEnter={enter} />
      {entries.length === 0 && <p class="fine">{folder === START_PAGE ? t(NO_PINS) : t("No bookmarks here yet.")}</p>}
      {entries.length > 0 && (
        <ul class="rows">
          {entries.slice(0, rows).map((entry) => (
            <li key={entry.id} class="library-entry">
              <EntryRow
                {...{ entry, library }}
                isChanged={changed === entry.id}
                onOpen={() => (entry.kind === "folder" ? enter(entry.id) : open(entry.url))}
                onChange={() => setChanged(changed === entry.id ? null : entry.id)}
              />
              {changed === entry.id && (
                <EntryForm
                  {...{ entry, library }}
                  onSave={(to) => void say(t("Changed"), library.change(entry, to))}
                  onDelete={() => void say(t("{name} deleted", { name: nameOf(entry) }), library.remove(entry))}
                />
              )}
            </li>
          ))}
        </ul>
      )}
      {rows < entries.length && (
        <button type="button" class="text-button" onClick={() => setRows(rows + ROWS)}>
          {t("Show more")}
        </button>
      )}
      <FileButtons library={library} part="bookmarks" onDone={setDone} />
      <UndoBar done={done} onClose={() => setDone(null)} />
    </>
  );
}

interface FolderHeadProps {
  readonly library: Library;
  readonly folder: number;
  readonly onEnter: (id: number) => void;
}

/** The way back, the folder's name, and a way to make another in it. */
function FolderHead({ library, folder, onEnter }: FolderHeadProps) {
  const [isAsking, setAsking] = useState(false);
  const backRef = useRef<HTMLButtonElement>(null);
  const newRef = useRef<HTMLButtonElement>(null);
  // The row that was pressed is gone with its folder, and the focus with it.
  useEffect(() => backRef.current?.focus(), [folder]);
  const place = library.folders().find(({ id }) => id === folder);
  return (
    <>
      <div class="library-head">
        {folder !== ROOT && (
          <button
            type="button"
            class="icon-button"
            aria-label={t("Back to the folder above")}
            ref={backRef}
            onClick={() => onEnter(library.folderAbove(folder))}
          >
            <Icon name="back" />
          </button>
        )}
        {folder !== ROOT && <h3>{place && titleOf(place)}</h3>}
        {folder !== START_PAGE && (
          <button
            type="button"
            class="text-button"
            aria-expanded={isAsking}
            ref={newRef}
            onClick={() => setAsking(!isAsking)}
          >
            {t("New folder")}
          </button>
        )}
      </div>
      {isAsking && (
        <form
          class="library-form"
          onSubmit={(event) => {
            event.preventDefault();
            const name = new FormData(event.currentTarget).get("name");
            newRef.current?.focus();
            setAsking(false);
            void library.addFolder(folder, String(name));
          }}
        >
          <NameField label={t("Name of the folder")} name="" />
          <button type="submit" class="button button-primary">
            {t("Add")}
          </button>
        </form>
      )}
    </>
  );
}

function NameField({ label, name }: { readonly label: string; readonly name: string }) {
  const fieldRef = useRef<HTMLInputElement>(null);
  useEffect(() => fieldRef.current?.focus(), []);
  return (
    <input
      class="field"
      name="name"
      aria-label={label}
      placeholder={label}
      autocomplete="off"
      required
      maxLength={200}
      defaultValue={name}
      ref={fieldRef}
    />
  );
}

interface EntryRowProps {
  readonly entry: Entry;
  readonly library: Library;
  readonly isChanged: boolean;
  readonly onOpen: () => void;
  readonly onChange: () => void;
}

function EntryRow({ entry, library, isChanged, onOpen, onChange }: EntryRowProps) {
  const { kind, id } = entry;
  const name = nameOf(entry);
  return (
    <div class="row">
      <button type="button" class="row-main" title={kind === "page" ? entry.url : undefined} onClick={onOpen}>
        {kind === "page" ? (
          <SiteIcon site={{ url: entry.url, icon: library.iconOf(entry.url) }} />
        ) : (
          <span class="site-icon site-icon-plain">
            <Glyph path={FOLDER} />
          </span>
        )}
        <span class="row-text">
          <bdi class="row-title">{name}</bdi>
          {kind === "page" ? (
            <Host className="row-hint" url={entry.url} />
          ) : (
            <span class="row-hint">{countText(library.entriesIn(id))}</span>
          )}
        </span>
        {kind === "folder" && <Icon name="forward" />}
      </button>
      {id !== START_PAGE && (
        <button
          type="button"
          class="icon-button quiet"
          aria-label={t("Change {name}", { name })}
          aria-expanded={isChanged}
          onClick={onChange}
        >
          <Icon name="menu" />
        </button>
      )}
    </div>
  );
}

interface EntryFormProps {
  readonly entry: Entry;
  readonly library: Library;
  readonly onSave: (to: { readonly title: string; readonly folder: number }) => void;
  readonly onDelete: () => void;
}

/** Its name and folder. */
function EntryForm({ entry, library, onSave, onDelete }: EntryFormProps) {
  const id = useId();
  return (
    <form
      class="library-form"
      onSubmit={(event) => {
        event.preventDefault();
        const given = new FormData(event.currentTarget);
        onSave({ title: String(given.get("name")), folder: Number(given.get("folder")) });
      }}
    >
      <NameField label={t("Name")} name={nameOf(entry)} />
      <label class="fine" for={id}>
        {t("Folder")}
      </label>
      <select id={id} class="field" name="folder">
        {library.foldersFor(entry).map((folder) => (
          <option key={folder.id} value={folder.id} selected={folder.id === entry.folder}>
            {"\u2003".repeat(folder.depth)}
            {titleOf(folder)}
          </option>
        ))}
      </select>
      <div class="actions">
        <button type="submit" class="button button-primary">
          {t("Save")}
        </button>
        <button type="button" class="button button-danger" onClick={onDelete}>
          {t("Delete")}
        </button>
      </div>
    </form>
  );
}

function nameOf(entry: Entry): string {
  return titleOf(entry) || (entry.kind === "page" ? shortHost(entry.url) : t("Folder"));
}

/** The app's own folders are called in the language of the app. */
function titleOf({ id, title }: { readonly id: number; readonly title: string }): string {
  return id === START_PAGE ? t("Start page") : id === ROOT ? t("Bookmarks") : title;
}

function countText(inside: readonly Entry[] | null): string {
  const count = inside?.length ?? 0;
  return count === 0 ? t("Empty") : tCount(count, "{count} bookmark", "{count} bookmarks");
}
