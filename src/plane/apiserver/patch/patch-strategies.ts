import { mergeKeys } from '../schema/api-fields.ts';
import { modelFields } from '../schema/built-in-types.ts';
import type { ValueType } from '../schema/built-in-types.ts';

/** How a strategic merge patch treats one field of a built-in object. */
export interface PatchField {
  /** Undefined for a field that the models do not know. Patches merge its objects and replace its lists. */
  readonly type: ValueType | undefined;
  /** Whether a patch merges its list into the document's list instead of replacing it. Lists only. */
  readonly mergeList: boolean;
  /** The field that identifies the objects of a merged list. Absent for lists of scalars. */
  readonly mergeKey?: string;
}

/** Returns how a patch treats the field `name` of a value of type `owner`. */
export function patchField(owner: ValueType | undefined, name: string): PatchField {
  switch (owner?.kind) {
    case 'map':
      return { type: owner.element, mergeList: false };
    case 'model': {
      const type = modelFields(owner.name)?.get(name);
      const mergeKey = mergeKeys.get(`${owner.name}.${name}`) ?? mergeKeys.get(name);
      if (mergeKey === undefined) return { type, mergeList: false };
      return { type, mergeList: true, ...(mergeKey !== '' && { mergeKey }) };
    }
    default:
      return { type: undefined, mergeList: false };
  }
}
