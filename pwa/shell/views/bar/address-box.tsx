import type { BrowserActions, BrowserState } from "../browser-state.ts";
import { LeadingButton, TrailingButton } from "./address-buttons.tsx";
import { useAddressEditing } from "./address-editing.ts";
import { AddressField } from "./address-field.tsx";
import { SuggestionList } from "./suggestion-list.tsx";
import { suggest } from "./suggestions.ts";

interface AddressBoxProps {
  readonly state: BrowserState;
  readonly actions: BrowserActions;
  readonly isEditing: boolean;
  readonly onEditing: (isEditing: boolean) => void;
  readonly onSiteInfo: () => void;
}

/** The address of the page; while somebody types, what they may mean. */
export function AddressBox({ state, actions, isEditing, onEditing, onSiteInfo }: AddressBoxProps) {
  const { formRef, inputRef, draft, finish, onFocusOut, onKeyDown, onClear, onFocus, onDraft } = useAddressEditing(
    isEditing,
    (isBegun) => {
      if (isBegun && !isEditing) actions.app.prepareToGo();
      onEditing(isBegun);
    },
  );
  const go = (input: string) => {
    if (input.trim() === "") return;
    actions.tab.go(input);
    finish();
  };
  return (
    <form
      class="address"
      ref={formRef}
      onSubmit={(event) => {
        event.preventDefault();
        go(inputRef.current?.value ?? "");
      }}
      onFocusOut={onFocusOut}
      onKeyDown={onKeyDown}
    >
      <div class="address-pill">
        <LeadingButton state={state} isEditing={isEditing} onSiteInfo={onSiteInfo} />
        <AddressField {...{ state, inputRef, isEditing, draft, onFocus, onDraft }} />
        <TrailingButton state={state} actions={actions} isEditing={isEditing} onClear={onClear} />
      </div>
      {isEditing && (
        <button type="button" class="address-cancel" onClick={finish}>
          Cancel
        </button>
      )}
      {isEditing && <SuggestionList rows={suggest(draft ?? "", state)} onChoose={go} />}
    </form>
  );
}
