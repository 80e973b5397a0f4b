// The fields of a form that an agent asks for. What a field cannot be is said; nothing that the agent wrote is run as a pattern.
import { asList, asRecord, asText, type JsonRecord } from "./json-value.ts";

export type FormValue = string | number | boolean | readonly string[];

export interface FormField {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly isRequired: boolean;
  readonly input: FieldInput;
}

export interface Choice {
  readonly value: string;
  readonly label: string;
}

export type FieldInput =
  | {
      readonly type: "text";
      readonly format: "text" | "email" | "url" | "date" | "datetime-local";
      readonly value: string;
      readonly minLength: number | undefined;
      readonly maxLength: number | undefined;
    }
  | {
      readonly type: "number";
      readonly isWhole: boolean;
      readonly value: string;
      readonly min: number | undefined;
      readonly max: number | undefined;
    }
  | { readonly type: "yes-no"; readonly value: boolean }
  | { readonly type: "one-of"; readonly choices: readonly Choice[]; readonly value: string }
  | { readonly type: "some-of"; readonly choices: readonly Choice[]; readonly value: readonly string[] }
  | { readonly type: "unknown"; readonly kind: string };

const formats: Readonly<Record<string, "email" | "url" | "date" | "datetime-local">> = {
  email: "email",
  uri: "url",
  date: "date",
  "date-time": "datetime-local",
};

/** The fields of `requestedSchema`, in its order. */
export function fieldsOf(requestedSchema: unknown): readonly FormField[] {
  const schema = asRecord(requestedSchema);
  const required = new Set(asList(schema.required));
  return Object.entries(asRecord(schema.properties)).map(([name, property]) => {
    const fields = asRecord(property);
    return {
      name,
      label: asText(fields.title) || name,
      description: asText(fields.description),
      isRequired: required.has(name),
      input: inputOf(fields),
    };
  });
}

function inputOf(fields: JsonRecord): FieldInput {
  switch (fields.type) {
    case "string": {
      const choices = choicesOf(fields);
      const value = asText(fields.default);
      if (choices.length > 0) return { type: "one-of", choices, value };
      const format = formats[asText(fields.format)] ?? "text";
      return { type: "text", format, value, minLength: count(fields.minLength), maxLength: count(fields.maxLength) };
    }
    case "number":
    case "integer": {
      const value = typeof fields.default === "number" ? String(fields.default) : "";
      const isWhole = fields.type === "integer";
      return { type: "number", isWhole, value, min: count(fields.minimum), max: count(fields.maximum) };
    }
    case "boolean":
      return { type: "yes-no", value: fields.default === true };
    case "array": {
      const choices = choicesOf(asRecord(fields.items));
      const value = asList(fields.default).filter((each) => typeof each === "string");
      return choices.length > 0 ? { type: "some-of", choices, value } : { type: "unknown", kind: "list" };
    }
    default:
      return { type: "unknown", kind: asText(fields.type) };
  }
}

/** `enum`, or `oneOf` / `anyOf` with a title each. */
function choicesOf(fields: JsonRecord): Choice[] {
  const named = [...asList(fields.oneOf), ...asList(fields.anyOf)].map(asRecord);
  const titled = named.flatMap(({ const: value, title }) =>
    typeof value === "string" ? [{ value, label: asText(title) || value }] : [],
  );
  const plain = asList(fields.enum).flatMap((value) => (typeof value === "string" ? [{ value, label: value }] : []));
  return [...titled, ...plain];
}

const count = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

/** Why a form cannot be sent by this page, or undefined. */
export function unfillable(fields: readonly FormField[]): string | undefined {
  const field = fields.find(({ isRequired, input }) => isRequired && input.type === "unknown");
  return field === undefined
    ? undefined
    : `This page cannot ask for “${field.label}”. Answer it in an editor, or decline.`;
}
