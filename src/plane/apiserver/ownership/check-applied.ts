import type { JsonValue } from '../json.ts';
import { fieldElement, pathText } from './field-set.ts';
import type { PathElement } from './field-set.ts';
import { ElementError, elementOf } from './list-elements.ts';
import { resolveOpen } from './owned-type.ts';
import type { OwnedType } from './owned-type.ts';

/**
 * What keeps an object from being applied, a sentence each: fields that its type does not have, lists where objects are meant,
 * elements that occur twice or that nothing tells apart.
 */
export function appliedProblems(value: JsonValue, open: OwnedType, path: readonly PathElement[] = []): string[] {
  if (value === null) return [];
  const type = resolveOpen(open, value);
  const wrong = (problem: string): string[] => [`${pathText(path)}: ${problem}`];
  switch (type.kind) {
    case 'scalar':
      return typeof value === 'object'
        ? wrong(`expected a scalar, got ${Array.isArray(value) ? 'a list' : 'a map'}`)
        : [];
    case 'list': {
      if (!Array.isArray(value)) return wrong('expected list');
      const seen = new Set<PathElement>();
      return value.flatMap((item, index) => {
        if (type.structure.type === 'atomic') return appliedProblems(item, type.element, [...path, `i:${index}`]);
        try {
          const element = elementOf(item, type);
          const place = [...path, element];
          const twice = seen.has(element)
            ? [`${pathText(path)}: duplicate entries for key ${pathText([element])}`]
            : [];
          seen.add(element);
          return [...twice, ...appliedProblems(item, type.element, place)];
        } catch (error) {
          if (error instanceof ElementError) return wrong(`element ${index}: ${error.message}`);
          throw error;
        }
      });
    }
    case 'map':
      if (typeof value !== 'object' || Array.isArray(value)) return wrong('expected map');
      return Object.entries(value).flatMap(([name, child]) => {
        const place = [...path, fieldElement(name)];
        const field = type.field(name) ?? type.element;
        return field === undefined
          ? [`${pathText(place)}: field not declared in schema`]
          : appliedProblems(child, field, place);
      });
  }
}
