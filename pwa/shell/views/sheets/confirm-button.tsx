import { useState } from "preact/hooks";
import { Icon } from "../parts/icons.tsx";

interface ConfirmButtonProps {
  readonly label: string;
  /** In small, behind the label. */
  readonly hint?: string;
  readonly question: string;
  readonly confirm: string;
  readonly done: string;
  readonly onConfirm: () => void;
}

/** A button that asks once before it does something that cannot be taken back. */
export function ConfirmButton({ label, hint = "", question, confirm, done, onConfirm }: ConfirmButtonProps) {
  const [step, setStep] = useState<"rest" | "asking" | "done">("rest");
  if (step === "done") {
    return (
      <p class="setting-line" role="alert">
        {done}
      </p>
    );
  }
  return (
    <div class="confirm">
      <button
        type="button"
        class="menu-row"
        aria-expanded={step === "asking"}
        onClick={() => setStep(step === "asking" ? "rest" : "asking")}
      >
        <span class="confirm-label">{label}</span>
        {hint !== "" && <span class="fine">{hint}</span>}
        <Icon name="forward" />
      </button>
      {step === "asking" && (
        <div class="confirm-box">
          <p>{question}</p>
          <div class="actions">
            <button
              type="button"
              class="button button-danger"
              onClick={() => {
                onConfirm();
                setStep("done");
              }}
            >
              {confirm}
            </button>
            <button type="button" class="button" onClick={() => setStep("rest")}>
              Cancel
            </button>
          </div>
        </div>
      )}
    </div>
  );
}
