// One field of an agent's form as a native control, and what the filled form says.
// The compiler checks that the switch is exhaustive, which the lint rule does not see.
// oxlint-disable typescript/consistent-return
import { h } from "preact";
import { useId } from "preact/hooks";
import type { FieldInput, FormField, FormValue } from "../model/form-fields.ts";
import { visibleLine } from "../model/visible-text.ts";
import { Visible } from "./visible.tsx";

export function FormInput({ field }: { field: FormField }) {
  const id = useId();
  const { name, input, isRequired, description } = field;
  const described = description === "" ? undefined : `${id}-described`;
  const label = (
    <>
      <Visible text={field.label} />
      {isRequired && <span class="muted"> (required)</span>}
    </>
  );
  const note = described !== undefined && (
    <small id={described}>
      <Visible text={description} />
    </small>
  );
  if (input.type === "unknown")
    return <p class="muted">{label}: a field of a kind that this page does not know. It is left empty.</p>;
  if (input.type === "some-of")
    return (
      <fieldset aria-describedby={described}>
        <legend>{label}</legend>
        {input.choices.map(({ value, label }) => (
          <label class="check" key={value}>
            <input type="checkbox" name={name} value={value} defaultChecked={input.value.includes(value)} />{" "}
            <Visible text={label} />
          </label>
        ))}
        {note}
      </fieldset>
    );
  if (input.type === "yes-no")
    return (
      <div>
        <label class="check">
          <input type="checkbox" name={name} defaultChecked={input.value} aria-describedby={described} /> {label}
        </label>
        {note}
      </div>
    );
  return (
    <div>
      <label for={id}>{label}</label>
      <Control id={id} name={name} input={input} isRequired={isRequired} described={described} />
      {note}
    </div>
  );
}

interface ControlProps {
  readonly id: string;
  readonly name: string;
  readonly input: Extract<FieldInput, { type: "text" | "number" | "one-of" }>;
  readonly isRequired: boolean;
  readonly described: string | undefined;
}

function Control({ id, name, input, isRequired, described }: ControlProps) {
  const common = { id, name, required: isRequired, "aria-describedby": described };
  switch (input.type) {
    case "one-of":
      return (
        <select {...common}>
          {!isRequired || input.value === "" ? <option value="">–</option> : null}
          {input.choices.map(({ value, label }) => (
            <option value={value} selected={value === input.value} key={value}>
              {visibleLine(label)}
            </option>
          ))}
        </select>
      );
    case "number": {
      const { min, max, value, isWhole } = input;
      return <input {...common} type="number" step={isWhole ? 1 : "any"} min={min} max={max} defaultValue={value} />;
    }
    case "text": {
      const { format, minLength, maxLength, value } = input;
      // JSX knows each kind of input by itself, and no union of them.
      return h("input", { ...common, type: format, minLength, maxLength, defaultValue: value });
    }
  }
}

/** Fields that were left empty are left out. */
export function valuesOf(fields: readonly FormField[], form: FormData): Record<string, FormValue> {
  const filled = fields.flatMap(({ name, input }): [string, FormValue][] => {
    const given = form.get(name);
    const text = typeof given === "string" ? given : "";
    switch (input.type) {
      case "yes-no":
        return [[name, form.has(name)]];
      case "some-of":
        return [[name, form.getAll(name).filter((each) => typeof each === "string")]];
      case "number":
        return text === "" ? [] : [[name, Number(text)]];
      case "text":
        // The field has no time zone; the person's own is meant.
        if (input.format === "datetime-local") return text === "" ? [] : [[name, new Date(text).toISOString()]];
        return text === "" ? [] : [[name, text]];
      case "one-of":
        return text === "" ? [] : [[name, text]];
      case "unknown":
        return [];
    }
  });
  return Object.fromEntries(filled);
}
