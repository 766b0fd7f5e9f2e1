import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { duplicateFields } from './duplicate-fields.ts';

describe('duplicateFields', () => {
  it('names each field that occurs twice, wherever it is', () => {
    const text = '{ "a" : 1, "b": [ {"c": "x\\"}", "c": 2}, {"c": null} ], "a":2, "\\u0062": {"d":{},"d":[]} }';
    expect(duplicateFields(text)).toEqual(['b[0].c', 'a', 'b', 'b.d']);
  });

  it('finds none in what JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.json(), fc.boolean(), (text, indented) => {
        const value: unknown = JSON.parse(text);
        return duplicateFields(JSON.stringify(value, undefined, indented ? 2 : 0)).length === 0;
      }),
    );
  });

  it('finds a field that is written again', () => {
    const keys = fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(keys, fc.nat(), (names, pick) => {
        const twice = names[pick % names.length]!;
        const text = `{${[...names, twice].map((name) => `${JSON.stringify(name)}:[]`).join(',')}}`;
        expect(duplicateFields(text)).toEqual([twice]);
      }),
    );
  });
});
