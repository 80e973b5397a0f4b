// What a Helper declares of a preset. The master reads its effects from here and knows none by name.
import * as z from "zod";

export const preset = z.looseObject({
  value: z.string().min(1),
  name: z.string(),
  description: z.string().optional(),
  /** How much it lets through; a switch to a greater one widens. */
  width: z.number(),
  /** A switch to it needs an explicit confirmation. */
  confirm: z.boolean().optional(),
  /** The router refuses `fs/write_text_file` and `terminal/create`. */
  refuseWrites: z.boolean().optional(),
  /** Nothing is allowed: a switch to it settles what is open. */
  refuseAll: z.boolean().optional(),
});

export type Preset = z.infer<typeof preset>;

/** The entry of least width, which is what an unknown or unreadable stored value becomes. */
export function narrowestPreset<Entry extends Pick<Preset, "width">>(presets: readonly Entry[]): Entry | undefined {
  return presets.reduce<Entry | undefined>(
    (least, entry) => (least === undefined || entry.width < least.width ? entry : least),
    undefined,
  );
}
