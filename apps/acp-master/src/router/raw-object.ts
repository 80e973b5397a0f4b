// JSON values as bytes, changed member by member: what is not named keeps its spelling, numbers above all. Only for JSON
// that was checked before.

import { type Edit, removeMember, setMember, type Span, splice } from "@acp-master/wire";
import { elements, members } from "../helper/object-members.ts";
import { EMPTY_OBJECT } from "./message.ts";

const whole = (bytes: Buffer): Span => ({ start: 0, end: bytes.length });

const edited = (bytes: Buffer, edit: Edit): Buffer => splice(bytes, 0, bytes.length, [edit]).subarray(0, -1);

/** The value of the member; of two equal keys the last, as a parser takes it. undefined where `object` is none or lacks it. */
export function memberOf(object: Buffer, key: string): Buffer | undefined {
  const found = members(object, whole(object))?.findLast((member) => member.key === key);
  return found && object.subarray(found.value.start, found.value.end);
}

/** The member where it is an object, else an empty one. */
export function objectIn(object: Buffer, key: string): Buffer {
  const value = memberOf(object, key);
  return value?.[0] === 0x7b ? value : EMPTY_OBJECT;
}

export function withMember(object: Buffer, key: string, value: Buffer): Buffer {
  return edited(object, setMember(object, whole(object), key, value));
}

export function withoutMember(object: Buffer, key: string): Buffer {
  const edit = removeMember(object, whole(object), key);
  return edit ? edited(object, edit) : object;
}

/** The elements where the value is an array, else none. */
export function elementsIn(value: Buffer | undefined): Buffer[] {
  if (value?.[0] !== 0x5b) return [];
  return elements(value, whole(value)).map(({ start, end }) => value.subarray(start, end));
}

export function arrayOf(values: readonly Buffer[]): Buffer {
  const parts = values.flatMap((value, index) => (index === 0 ? [value] : [Buffer.from(","), value]));
  return Buffer.concat([Buffer.from("["), ...parts, Buffer.from("]")]);
}
