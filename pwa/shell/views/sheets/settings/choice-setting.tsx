import { useId } from "preact/hooks";

export interface Choice<Value> {
  readonly value: Value;
  readonly label: string;
}

interface ChoiceSettingProps<Value> {
  /** Unique in the sheet. */
  readonly name: string;
  readonly legend: string;
  /** What follows of the choice, in small. */
  readonly hint?: string;
  readonly choices: readonly Choice<Value>[];
  readonly chosen: Value;
  readonly onChange: (value: Value) => void;
}

/** One of a few values, side by side. */
export function ChoiceSetting<Value>(props: ChoiceSettingProps<Value>) {
  const { name, legend, hint, choices, chosen, onChange } = props;
  const id = useId();
  return (
    <fieldset class="setting" aria-describedby={hint && id}>
      <legend>{legend}</legend>
      <div class="segments">
        {choices.map(({ value, label }) => (
          <label key={label} class="segment">
            <input type="radio" name={name} value={label} checked={chosen === value} onChange={() => onChange(value)} />
            <span>{label}</span>
          </label>
        ))}
      </div>
      {hint && (
        <p class="fine" id={id}>
          {hint}
        </p>
      )}
    </fieldset>
  );
}
