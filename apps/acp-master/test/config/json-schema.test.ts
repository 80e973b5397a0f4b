import { describe, expect, it } from "vitest";
import { configJsonSchema } from "../../src/config/json-schema.ts";

interface Schema {
  readonly description?: string;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly additionalProperties?: Schema | boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
}

describe("configJsonSchema()", () => {
  const schema = configJsonSchema() as Schema;

  it("has every key optional, described, and none besides", () => {
    const check = (node: Schema, path: string): void => {
      expect(node.required ?? [], path).toEqual([]);
      expect(node.additionalProperties, path).toBe(false);
      for (const [key, member] of Object.entries(node.properties ?? {})) {
        if (!["sync", "level", "host", "port"].includes(key)) expect(member.description, `${path}.${key}`).toBeTruthy();
        if (member.properties !== undefined) check(member, `${path}.${key}`);
      }
    };
    check(schema, "");
    const agent = schema.properties?.agents?.additionalProperties;
    if (typeof agent !== "object") throw new Error("agents have no shape");
    check(agent, "agents.*");
  });

  it("says the defaults", () => {
    expect(schema.properties?.defaultAgent?.default).toBe("claude");
    expect(schema.properties?.limits?.properties?.promptQueue?.default).toBe(16);
  });
});
