import fc from 'fast-check';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { LineCounter, parseDocument } from 'yaml';
import { Builders } from '../testkit/builders/builders.ts';
import { pluginHandle } from '../../test/builders/plugin-handle.ts';
import { UserError } from '../base/user-error.ts';
import type { ReportProblem } from './argument-schema.ts';
import { PluginArgumentsError } from './plugin-arguments-error.ts';
import type { ArgumentProblem } from './plugin-arguments-error.ts';
import { noArguments, PluginArguments } from './plugin-arguments.ts';
import { defaultPlugins } from './registry.ts';

const nightNodes = new PluginArguments('NightNodes', {
  type: 'object',
  additionalProperties: false,
  properties: {
    from: { type: 'integer', minimum: 0, maximum: 23, default: 22 },
    zone: { type: 'string', minLength: 1 },
    mode: { enum: ['Soft', 'Hard'], default: 'Soft' },
    holidays: { type: 'boolean' },
    share: { type: 'number', maximum: 1 },
    rooms: {
      type: 'array',
      maxItems: 3,
      uniqueBy: ['name', 'floor'],
      default: [],
      items: {
        type: 'object',
        required: ['name'],
        additionalProperties: false,
        properties: { name: { type: 'string' }, floor: { type: 'integer', default: 0 } },
        check: ({ name }: { readonly name: string }, report: ReportProblem) => {
          if (name === 'attic') report(['name'], 'must have a door');
        },
      },
    },
    limits: {
      type: 'object',
      additionalProperties: { type: 'integer', mustBe: 'a number of pods' },
      default: {},
    },
    gone: { rejected: 'was dropped; use limits' },
  },
});

function problemsOf(args: unknown): readonly (readonly [readonly (string | number)[], string])[] {
  return caught(() => nightNodes.read(args)).map(({ path, problem }) => [path, problem]);
}

function caught(read: () => unknown): readonly ArgumentProblem[] {
  try {
    read();
  } catch (error) {
    if (error instanceof PluginArgumentsError) return error.problems;
    throw error;
  }
  return [];
}

describe('the arguments of a plugin', () => {
  it('have defaults, absent or null', () => {
    const defaults = { from: 22, mode: 'Soft', rooms: [], limits: {} };
    expect(nightNodes.read(undefined)).toEqual(defaults);
    expect(nightNodes.read(null)).toEqual(defaults);
    expect(nightNodes.read({})).toEqual(defaults);
    expect(nightNodes.read({ from: null, mode: null, zone: null, gone: null })).toEqual(defaults);
    expect(nightNodes.read({ rooms: [{ name: 'a' }] }).rooms).toEqual([{ name: 'a', floor: 0 }]);
  });

  it('have the types of their schema', () => {
    const args = nightNodes.read({ rooms: [{ name: 'a' }] });
    expectTypeOf(args.from).toEqualTypeOf<number>();
    expectTypeOf(args.zone).toEqualTypeOf<string | undefined>();
    expectTypeOf(args.mode).toEqualTypeOf<'Soft' | 'Hard'>();
    expectTypeOf(args.holidays).toEqualTypeOf<boolean | undefined>();
    expectTypeOf(args.rooms[0]!.name).toEqualTypeOf<string>();
    expectTypeOf(args.rooms[0]!.floor).toEqualTypeOf<number>();
  });

  it('may have apiVersion and kind, which are not passed on', () => {
    const given = { apiVersion: 'kubescheduler.config.k8s.io/v1', kind: 'NightNodesArgs', zone: 'x' };
    expect(nightNodes.read(given)).toEqual({ ...nightNodes.read({}), zone: 'x' });
    expect(problemsOf({ kind: 'NodeAffinityArgs' })).toEqual([
      [['kind'], 'must be NightNodesArgs, not "NodeAffinityArgs"'],
    ]);
  });

  it('are not modified in place', () => {
    const given = { zone: null, rooms: [{ name: 'a', floor: null }] };
    const before = structuredClone(given);
    nightNodes.read(given);
    expect(given).toEqual(before);
  });

  it.each<[unknown, readonly (string | number)[], string]>([
    ['text', [], 'must be an object, not "text"'],
    [[1], [], 'must be an object, not a list'],
    [
      { zome: 'x' },
      ['zome'],
      'is not a known field; did you mean zone? The fields are from, zone, mode, holidays, share, rooms, limits',
    ],
    [
      { colour: 'x' },
      ['colour'],
      'is not a known field; the fields are from, zone, mode, holidays, share, rooms, limits',
    ],
    [{ from: 24 }, ['from'], 'must be a whole number from 0 to 23, not 24'],
    [{ from: Number.NaN }, ['from'], 'must be a whole number from 0 to 23, not NaN'],
    [{ zone: '' }, ['zone'], 'must be a string of at least 1 character, not ""'],
    [{ zone: { a: 1 } }, ['zone'], 'must be a string of at least 1 character, not an object'],
    [{ mode: 'soft' }, ['mode'], 'must be Soft or Hard, not "soft"'],
    [{ holidays: 'yes' }, ['holidays'], 'must be true or false, not "yes"'],
    [{ share: 1.5 }, ['share'], 'must be a number of at most 1, not 1.5'],
    [{ rooms: 'a' }, ['rooms'], 'must be a list of at most 3 elements, not "a"'],
    [{ rooms: [null] }, ['rooms', 0], 'must be an object, not null'],
    [{ rooms: [{}] }, ['rooms', 0, 'name'], 'is missing; it must be a string'],
    [{ rooms: [{ name: 'attic' }] }, ['rooms', 0, 'name'], 'must have a door'],
    [
      { rooms: [{ name: 'a' }, { name: 'a', floor: 1 }, { name: 'a', floor: 0 }] },
      ['rooms', 2],
      'must differ from rooms[0] in name or floor; both have "a" and 0',
    ],
    [{ limits: { 'a/b~c': 'x' } }, ['limits', 'a/b~c'], 'must be a number of pods, not "x"'],
    [{ gone: 1 }, ['gone'], 'was dropped; use limits'],
  ])('are rejected with the path and a valid value: %j', (args, path, problem) => {
    expect(problemsOf(args)).toEqual([[path, problem]]);
  });

  it('are rejected with all problems, in their order', () => {
    const rooms = [{ name: 'attic' }, { nmae: 'b' }, { name: 'c' }, { name: 'c' }];
    expect(problemsOf({ mode: 1, rooms, from: -1 }).map(([path]) => path)).toEqual([
      ['mode'],
      ['rooms'], // too many
      ['rooms', 0, 'name'],
      ['rooms', 1, 'name'],
      ['rooms', 1, 'nmae'],
      ['rooms', 3],
      ['from'],
    ]);
  });

  it('are rejected by a plugin that takes none', () => {
    expect(noArguments('NodeName').read(null)).toEqual({});
    expect(noArguments('NodeName').read({ kind: 'NodeNameArgs' })).toEqual({});
    expect(() => noArguments('NodeName').read({ name: 'x' })).toThrow(
      'arguments of NodeName: name is not a known field; no field can be set here',
    );
  });

  it('may be absent, except required ones', () => {
    const strict = new PluginArguments('Strict', {
      type: 'object',
      additionalProperties: false,
      required: ['name'],
      properties: { name: { type: 'string' } },
    });
    expectTypeOf(strict.read({ name: 'a' }).name).toEqualTypeOf<string>();
    expect(() => strict.read(undefined)).toThrow('arguments of Strict: name is missing; it must be a string');
  });
});

it('a schema with keywords outside ArgumentSchema still rejects', () => {
  const patterned = new PluginArguments('Patterned', {
    type: 'object',
    additionalProperties: true,
    ...{ patternProperties: { '^x/': { type: 'array', items: { type: 'integer' } } } },
  });
  expect(caught(() => patterned.read({ 'x/a': [1, 'b'], y: 1 }))).toEqual([
    { path: ['x/a', 1], problem: 'must be a whole number, not "b"' },
  ]);
});

describe('the error', () => {
  it('is a UserError', () => {
    expect(() => nightNodes.read({ from: 24 })).toThrow(UserError);
    expect(() => nightNodes.read({ from: 24 })).toThrow(
      expect.objectContaining({
        name: 'PluginArgumentsError',
        plugin: 'NightNodes',
        message: 'arguments of NightNodes: from must be a whole number from 0 to 23, not 24',
      }),
    );
  });

  it('shows the first ten problems, one per line, and counts the rest', () => {
    const limits = Object.fromEntries(Array.from({ length: 13 }, (_, index) => [`l${index}`, 'x']));
    expect(() => nightNodes.read({ limits })).toThrow(
      expect.objectContaining({
        message: [
          'arguments of NightNodes:',
          ...Array.from({ length: 10 }, (_, index) => `  limits.l${index} must be a number of pods, not "x"`),
          '  and 3 more',
        ].join('\n'),
        problems: expect.objectContaining({ length: 13 }),
      }),
    );
  });

  it('has paths that locate the line in YAML', () => {
    const lines = new LineCounter();
    const text = ['zone: x', 'rooms:', '- name: a', '- name: attic'].join('\n');
    const document = parseDocument(text, { lineCounter: lines });
    const [problem] = caught(() => nightNodes.read(document.toJS()));
    const node = document.getIn(problem!.path, true) as { range: [number, number, number] };
    expect(lines.linePos(node.range[0]).line).toBe(4);
  });
});

describe('hostile arguments', () => {
  it.each<[string, unknown]>([
    ['deeply nested', JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)],
    ['deeply nested in a field', { zone: JSON.parse(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`) }],
    ['deeply nested in an unknown field', { x: JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`) }],
    ['a long list', { rooms: Array.from({ length: 50_000 }, () => 7) }],
    ['many fields', Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`forms${index}`, 1]))],
    ['a long name', { ['a'.repeat(1_000_000)]: 1 }],
    ['a long string', { mode: 'a'.repeat(1_000_000) }],
    ['names of Object.prototype', JSON.parse('{"__proto__":{"from":1},"constructor":1,"rooms":[{"__proto__":1}]}')],
    ['values that JSON cannot represent', { from: 1n, zone: Symbol('a'), mode: () => 1, rooms: new Map() }],
  ])('are rejected with a message of bounded length: %s', (_, args) => {
    expect(() => nightNodes.read(args)).toThrow(
      expect.objectContaining({
        name: 'PluginArgumentsError',
        message: expect.toSatisfy((text) => text.length < 3000),
      }),
    );
  });

  it('do not reach the prototype', () => {
    const args = nightNodes.read(JSON.parse('{"limits":{"__proto__":7}}'));
    expect(Object.entries(args.limits)).toEqual([['__proto__', 7]]);
    expect(Object.getPrototypeOf(args.limits)).toBe(Object.prototype);
  });
});

/** JSON values with many field names and strings that plugins know. */
function likelyArguments(): fc.Arbitrary<unknown> {
  const words = [
    ['ignoredResources', 'ignoredResourceGroups', 'scoringStrategy', 'type', 'resources', 'name', 'weight'],
    ['addedAffinity', 'requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms', 'matchExpressions'],
    ['preferredDuringSchedulingIgnoredDuringExecution', 'preference', 'matchFields', 'key', 'operator', 'values'],
    ['permitWaitingTimeSeconds', 'podGroupBackoffSeconds', 'podGroupRejectPercentage', 'apiVersion', 'kind'],
    ['__proto__', 'constructor', 'toString', 'a/b', '~', '', '0'],
  ].flat();
  const texts = ['cpu', 'LeastAllocated', 'In', 'Exists', 'Gt', 'NotIn', 'metadata.name', 'zone', '7'];
  return fc.letrec<{ value: unknown; object: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 6 },
      fc.oneof(fc.constantFrom(...texts, null), fc.integer({ min: -2, max: 102 }), fc.jsonValue({ maxDepth: 1 })),
      fc.array(tie('value'), { maxLength: 3 }),
      tie('object'),
    ),
    object: fc
      .array(fc.tuple(fc.constantFrom(...words), tie('value')), { maxLength: 5 })
      .map((entries) => Object.fromEntries(entries)),
  })).object;
}

/** plugin -> arguments of its shape, mostly valid */
function shapes(): Record<string, fc.Arbitrary<unknown>> {
  const some = (fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown> =>
    fc.record(fields, { requiredKeys: [] });
  const list = (arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => fc.array(arbitrary, { maxLength: 3 });
  const requirement = fc.record({
    key: fc.constantFrom('zone', 'metadata.name', 'example.com/tier', 'a b'),
    operator: fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'),
    values: fc.oneof(list(fc.constantFrom('a', '7')), fc.constant(null)),
  });
  const term = some({ matchExpressions: list(requirement), matchFields: list(requirement) });
  const weight = fc.integer({ min: 1, max: 100 });
  return {
    NodeAffinity: some({
      addedAffinity: some({
        requiredDuringSchedulingIgnoredDuringExecution: some({ nodeSelectorTerms: list(term) }),
        preferredDuringSchedulingIgnoredDuringExecution: list(fc.record({ weight, preference: term })),
      }),
    }),
    NodeResourcesFit: some({
      ignoredResources: list(fc.constantFrom('example.com/gpu', 'cpu', 'a b')),
      ignoredResourceGroups: list(fc.constantFrom('example.com', 'example.com/gpu')),
      scoringStrategy: fc.record({
        type: fc.constantFrom('LeastAllocated', 'MostAllocated', 'RequestedToCapacityRatio'),
        resources: list(fc.record({ name: fc.constantFrom('cpu', 'memory', 'example.com/gpu'), weight })),
      }),
    }),
    Coscheduling: some({
      permitWaitingTimeSeconds: fc.nat(),
      podGroupBackoffSeconds: fc.nat(),
      podGroupRejectPercentage: weight,
    }),
  };
}

/** Returns the value with one part replaced; `route` selects the path to it. */
function disturbed(value: unknown, route: readonly number[], replacement: unknown): unknown {
  const [turn, ...rest] = route;
  if (typeof value !== 'object' || value === null || turn === undefined) return replacement;
  const names = Object.keys(value);
  if (names.length === 0) return replacement;
  const name = names[turn % names.length]!;
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
  copy[name] = disturbed(copy[name], rest, replacement);
  return copy;
}

/** Returns whether the value contains the field, or the object that lacks it. */
function leadsSomewhere(path: readonly (string | number)[], value: unknown): boolean {
  let inner = value;
  for (const [depth, segment] of path.entries()) {
    if (typeof inner !== 'object' || inner === null) return false;
    if (Array.isArray(inner) !== (typeof segment === 'number')) return false;
    if (!Object.hasOwn(inner, segment)) return depth === path.length - 1;
    inner = (inner as Record<string, unknown>)[segment];
  }
  return true;
}

describe('any arguments', () => {
  const handle = pluginHandle(new Builders());

  it.each(defaultPlugins.map(({ name, factory }) => [name, factory] as const))(
    'of %s are accepted, or rejected with existing fields',
    (name, factory) => {
      const shape = shapes()[name] ?? fc.constant({});
      const something = fc.oneof(fc.jsonValue(), likelyArguments());
      const wrong = fc
        .tuple(shape, fc.array(fc.nat(), { maxLength: 8 }), something)
        .map(([value, route, replacement]) => disturbed(value, route, replacement));
      fc.assert(
        fc.property(fc.oneof(shape, wrong, something), (args) => {
          const before = JSON.stringify(args);
          const problems = caught(() => factory(args, handle));
          for (const { path } of problems) expect(leadsSomewhere(path, args), JSON.stringify(path)).toBe(true);
          expect(JSON.stringify(args)).toBe(before);
        }),
        { numRuns: 500 },
      );
    },
  );
});
