export interface Choice<Value> {
  readonly value: Value;
  readonly label: string;
}

interface ChoiceSettingProps<Value> {
  /** Unique in the sheet. */
  readonly name: string;
  readonly legend: string;
  readonly choices: readonly Choice<Value>[];
  readonly chosen: Value;
  readonly onChange: (value: Value) => void;
}

/** One of a few values, side by side. */
export function ChoiceSetting<Value>({ name, legend, choices, chosen, onChange }: ChoiceSettingProps<Value>) {
  return (
    <fieldset class="setting">
      <legend>{legend}</legend>
      <div class="segments">
        {choices.map(({ value, label }) => (
          <label key={label} class="segment">
            <input type="radio" name={name} value={label} checked={chosen === value} onChange={() => onChange(value)} />
            <span>{label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
