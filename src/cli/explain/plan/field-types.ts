import { isObject } from '../../manifests/is-object.ts';

/** A type of a field, and how a message says it. */
interface FieldType {
  readonly has: (value: unknown) => boolean;
  readonly text: string;
}

const list: FieldType = { has: (value) => Array.isArray(value) && value.every(isObject), text: 'a list of objects' };
const object: FieldType = { has: isObject, text: 'an object' };
const text: FieldType = { has: (value) => typeof value === 'string', text: 'a text' };
const texts: FieldType = {
  has: (value) => isObject(value) && Object.values(value).every((each) => typeof each === 'string'),
  text: 'an object whose values are texts; quote numbers and booleans',
};
const number: FieldType = {
  has: (value) => Number.isInteger(value) && Math.abs(value as number) < 2 ** 31,
  text: 'a whole 32-bit number',
};
const count: FieldType = { has: (value) => number.has(value) && (value as number) >= 0, text: 'a whole number from 0' };

/** field -> its type, for the fields that planning reads and that the API server would check */
export type FieldTypes = Readonly<Record<string, FieldType>>;

export const metadataTypes: FieldTypes = { labels: texts, annotations: texts, ownerReferences: list };

export const podSpecTypes: FieldTypes = {
  ...{ volumes: list, tolerations: list, schedulingGates: list, topologySpreadConstraints: list, resourceClaims: list },
  ...{ affinity: object, schedulingGroup: object, nodeSelector: texts },
  ...{ schedulerName: text, priorityClassName: text, preemptionPolicy: text },
  priority: number,
};

export const ordinalsTypes: FieldTypes = { start: count };

/** Returns the fields of another type as pairs of field path and problem. A field that is absent or null has any type. */
export function typeProblems(
  value: unknown,
  types: FieldTypes,
  path: string,
): readonly (readonly [field: string, problem: string])[] {
  if (value === undefined || value === null) return [];
  if (!isObject(value)) return [[path, 'must be an object']];
  return Object.entries(types)
    .filter(([field, type]) => (value[field] ?? null) !== null && !type.has(value[field]))
    .map(([field, type]) => [`${path}.${field}`, `must be ${type.text}`] as const);
}
