import { expect, it } from 'vitest';
import { parseManifests } from '../manifests/parse-manifests.ts';
import { describeNodes } from './describe-nodes.ts';
import { specsOf, takeNodes } from './node-manifests.ts';

const node = (name: string, rest = ''): string => `apiVersion: v1\nkind: Node\nmetadata:\n  name: ${name}\n${rest}`;

it('rejects two Nodes with one name, and says where both are', () => {
  const { manifests } = parseManifests('nodes.yaml', [node('a'), node('b'), node('a')].join('---\n'));
  expect(() => takeNodes(manifests, {})).toThrow(
    'nodes.yaml, document 3, line 14: Node a: metadata.name: already used by the Node in nodes.yaml, document 1, line 4. Rename or remove one of the two',
  );
});

it('describes a Node whose size cannot be read without a size', () => {
  const { nodes } = takeNodes(parseManifests('nodes.yaml', node('a', 'status: 5\n')).manifests, { cpu: '2' });
  expect(describeNodes(specsOf(nodes))).toBe('1 node');
});
