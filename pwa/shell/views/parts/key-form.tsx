import { useRef, useState } from "preact/hooks";
import { t } from "../../app/language.ts";
import { useId } from "../ui.ts";

interface KeyFormProps {
  /** Id of the element that says why the key that was entered is not taken; null where none was, or it may be right. */
  readonly problemId?: string | null;
  /** The edge is being asked about a key. */
  readonly isBusy?: boolean;
  readonly onKey: (accessKey: string) => void;
}

/** Asks for the access key; a whole pairing link will do as well. */
export function KeyForm({ problemId = null, isBusy = false, onKey }: KeyFormProps) {
  const id = useId();
  const inputRef = useRef<HTMLInputElement>(null);
  const [isEmpty, setEmpty] = useState(false);

  const submit = () => {
    const accessKey = accessKeyFrom(inputRef.current?.value ?? "");
    setEmpty(accessKey === "");
    if (accessKey === "") inputRef.current?.focus();
    else onKey(accessKey);
  };

  return (
    <form
      class="key-form"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <label class="field-label" for={id}>
        {t("Access key")}
      </label>
      <input
        id={id}
        ref={inputRef}
        class="field"
        type="text"
        placeholder={t("Key, code, or the whole link")}
        autocapitalize="off"
        autocomplete="off"
        autocorrect="off"
        spellcheck={false}
        enterkeyhint="go"
        aria-invalid={isEmpty || problemId !== null}
        aria-describedby={(isEmpty ? `${id}-problem` : problemId) ?? undefined}
      />
      {isEmpty && (
        <p class="problem" id={`${id}-problem`} role="alert">
          {t("The key is empty.")}
        </p>
      )}
      <button type="submit" class="button button-primary" aria-disabled={isBusy}>
        {t("Pair")}
      </button>
    </form>
  );
}

/** The access key in what the person pasted: the key itself, or a whole pairing link `https://host/#key=…`. */
export function accessKeyFrom(pasted: string): string {
  const text = pasted.trim();
  const hash = text.indexOf("#");
  const inLink = hash < 0 ? null : new URLSearchParams(text.slice(hash + 1)).get("key");
  return (inLink ?? text).replace(/\s+/g, "");
}
