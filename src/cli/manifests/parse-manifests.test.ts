import { describe, expect, it } from 'vitest';
import { cpuMsOf } from '../../../test/expect/cpu-ms.ts';
import { parseManifests } from './parse-manifests.ts';

const podOf = (name: string): string => `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\n`;

function namesIn(text: string): string[] {
  const { manifests, problems } = parseManifests('jobs.yaml', text);
  expect(problems).toEqual([]);
  return manifests.map(({ object }) => object.metadata.name!);
}

describe('parseManifests', () => {
  it('returns objects in document order and skips empty documents', () => {
    expect(namesIn(`---\n${podOf('a')}---\n# nothing\n---\n${podOf('b')}---\n`)).toEqual(['a', 'b']);
    expect(namesIn('')).toEqual([]);
  });

  it('accepts JSON', () => {
    expect(namesIn('{"apiVersion": "v1", "kind": "Pod",\n\t"metadata": {"name": "a"}}')).toEqual(['a']);
  });

  it('returns the items of Lists', () => {
    const item = (name: string): object => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name } });
    const inner = { apiVersion: 'v1', kind: 'PodList', items: [item('b')] };
    expect(namesIn(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [item('a'), inner] }))).toEqual(['a', 'b']);
  });

  it('keeps unknown fields', () => {
    const { manifests } = parseManifests('jobs.yaml', `${podOf('a')}spec:\n  notYet: {invented: 1}\n`);
    expect(manifests[0]!.object.spec).toEqual({ notYet: { invented: 1 } });
  });

  it('knows the line of a field, or of its closest parent', () => {
    const text = `${podOf('a')}---\n${podOf('b')}spec:\n  containers:\n    - name: main\n      resources:\n        limits: {cpu: 1}\n`;
    const [, second] = parseManifests('jobs.yaml', text).manifests;
    expect(second!.where).toBe('jobs.yaml, document 2');
    expect(second!.lineOf('metadata.name')).toBe(9);
    expect(second!.lineOf('spec.containers[0].resources.limits[cpu]')).toBe(14);
    expect(second!.lineOf('spec.containers[0].image')).toBe(12);
    expect(second!.lineOf('')).toBe(6);
  });
});

describe('parseManifests, for invalid manifests', () => {
  it.each([
    ['syntax', 'a: [1\n', /^jobs.yaml, document 1, line \d: not valid YAML or JSON: /],
    ['a key given twice', 'kind: Pod\nkind: Pod\n', /^jobs.yaml, document 1, line 2: not valid .*unique/],
    [
      'a key given twice further in',
      'a:\n  b: [{"c": 1, "c": 2}]\n',
      /^jobs.yaml, document 1, line 2: not valid .*unique/,
    ],
    [
      'an alias for what it is a part of',
      '&x {kind: List, items: [*x]}\n',
      /^jobs.yaml, document 1: not valid .*alias/,
    ],
    [
      'a part that has itself',
      'kind: Pod\nmetadata: &m {name: a, labels: *m}\n',
      /^jobs.yaml, document 1: not valid .*alias/,
    ],
    [
      'aliases that multiply',
      `a: &a [${'x,'.repeat(20)}]\nb: &b [${'*a,'.repeat(20)}]\nc: [${'*b,'.repeat(20)}]\n`,
      /^jobs.yaml, document 1: not valid .*alias/,
    ],
    ['nesting without end', '['.repeat(20_000), /^jobs.yaml, document 1, line 1: not valid/],
    ['a tab', 'a:\n\tb: 1\n', /^jobs.yaml, document 1, line 2: not valid/],
    ['no object', '- a\n- b\n', /line 1: must be a Kubernetes object, not a list$/],
    ['no kind', 'apiVersion: v1\nmetadata: {name: a}\n', /line 1: kind: must be a non-empty string such as Pod$/],
    ['a version that is a number', 'apiVersion: 1\nkind: Pod\nmetadata: {name: a}\n', /line 1: apiVersion: must be/],
    ['no name', 'apiVersion: v1\nkind: Pod\nmetadata:\n  labels: {}\n', /line 4: metadata.name: must be/],
    ['a name that is a number', 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: 7\n', /line 4: metadata.name: must be/],
    ['no metadata', 'apiVersion: v1\nkind: Pod\n', /line 1: metadata: must be an object with a name$/],
    [
      'a wrong item of a List',
      'kind: List\nitems:\n  - apiVersion: v1\n    metadata: {name: a}\n',
      /line 3: items.0.kind: must be/,
    ],
  ])('reports line and field: %s', (_what, text, message) => {
    const { manifests, problems } = parseManifests('jobs.yaml', text);
    expect(manifests).toEqual([]);
    expect(problems[0]).toMatch(message);
  });

  it('needs time proportional to the length of the file', async () => {
    const data = Array.from({ length: 50_000 }, (_, index) => `  key-${index}: v`).join('\n');
    const text = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n${data}\n`;
    const ms = await cpuMsOf(() => expect(parseManifests('a.yaml', text).manifests).toHaveLength(1));
    // Comparing each key with all others takes two minutes.
    expect(ms).toBeLessThan(10_000);
  });

  it('reports problems of the documents after an invalid one', () => {
    const { problems } = parseManifests('jobs.yaml', `kind: Pod\n---\n${podOf('a')}---\nkind: Pod\n`);
    expect(problems.map((problem) => problem.split(',').slice(0, 2).join(','))).toEqual([
      'jobs.yaml, document 1',
      'jobs.yaml, document 1',
      'jobs.yaml, document 3',
      'jobs.yaml, document 3',
    ]);
  });
});
