import { useState } from "preact/hooks";

let lastId = 0;

/** An id that no other element of the app has. Preact's own `useId` counts anew with each draw of the root. */
export function useId(): string {
  return useState(() => `id-${++lastId}`)[0];
}

/** The chrome's own state, which neither the app nor a tab needs to know. */
export type SheetName =
  | "menu"
  | "tabs"
  | "held"
  | "site"
  | "past"
  | "settings"
  | "devices"
  | "downloads"
  | "sign-in"
  | LibrarySheetName;

/** Sheets with what the person has visited or marked. */
export type LibrarySheetName = "history" | "bookmarks";

export interface UiState {
  readonly sheet: SheetName | null;
  /** The address box has the focus. */
  readonly isEditing: boolean;
  /** The person searches in the page. */
  readonly isFinding: boolean;
}

export interface Ui extends UiState {
  /** Takes effect in a new draw; this object stays as it is. */
  readonly change: (change: Partial<UiState>) => void;
}
