/** The chrome's own state, which neither the app nor a tab needs to know. */
export type SheetName = "menu" | "tabs" | "held" | "site" | "past" | "settings" | "devices" | "sign-in";

export interface UiState {
  readonly sheet: SheetName | null;
  /** The address box has the focus. */
  readonly isEditing: boolean;
}

export interface Ui extends UiState {
  /** Takes effect in a new draw; this object stays as it is. */
  readonly change: (change: Partial<UiState>) => void;
}
