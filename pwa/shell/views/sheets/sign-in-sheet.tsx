import { useRef } from "preact/hooks";
import type { SignInAsked } from "../../../messages/tunnel-messages.ts";
import { t, tParts } from "../../app/language.ts";
import { shortHost } from "../parts/format.ts";
import { Icon, SIGNS } from "../parts/icons.tsx";
import { useId } from "../ui.ts";
import { Sheet } from "./sheet.tsx";

interface SignInProps {
  readonly asked: SignInAsked;
  /** Null: the person will not. */
  readonly onAnswer: (given: { readonly name: string; readonly password: string } | null) => void;
}

/** Asks for what the server of the page wants. The browser keeps none of it: to it, all sites would be the app. */
export function SignInSheet({ asked, onAnswer }: SignInProps) {
  const { origin, realm, isWrong } = asked;
  const id = useId();
  const [nameRef, passwordRef] = [useRef<HTMLInputElement>(null), useRef<HTMLInputElement>(null)];
  const submit = (event: Event) => {
    event.preventDefault();
    onAnswer({ name: nameRef.current?.value ?? "", password: passwordRef.current?.value ?? "" });
  };
  const plain = { autocomplete: "off", autocapitalize: "off", autocorrect: "off", spellcheck: false } as const;
  return (
    <Sheet title={t("Sign in to {host}", { host: shortHost(origin) })} onClose={() => onAnswer(null)}>
      {realm !== "" && <p class="fine">{tParts("The site says: “{words}”", { words: <bdi>{realm}</bdi> })}</p>}
      {origin.startsWith("http:") && (
        <p class="note note-warning">
          <Icon name={SIGNS.plain} />
          <span>{t("Between your edge and the site, others can read what you enter.")}</span>
        </p>
      )}
      {isWrong && (
        <p id={`${id}-problem`} class="problem" role="alert">
          {t("Name or password is wrong.")}
        </p>
      )}
      <form class="key-form" onSubmit={submit}>
        <label class="field-label" for={`${id}-name`}>
          {t("Name")}
        </label>
        <input
          id={`${id}-name`}
          ref={nameRef}
          class="field"
          autofocus
          aria-invalid={isWrong}
          aria-describedby={isWrong ? `${id}-problem` : undefined}
          {...plain}
        />
        <label class="field-label" for={`${id}-password`}>
          {t("Password")}
        </label>
        <input id={`${id}-password`} ref={passwordRef} class="field secret" aria-invalid={isWrong} {...plain} />
        <button type="submit" class="button button-primary">
          {t("Sign in")}
        </button>
      </form>
    </Sheet>
  );
}
