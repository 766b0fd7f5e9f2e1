import { expect, it } from 'vitest';
import { invitation } from './invitation.ts';
import { podOf } from './testing/observed-objects.ts';

const commandsFor = (...pods: NonNullable<Parameters<typeof invitation>[1]>): readonly string[] =>
  invitation('/tmp/k', pods)
    .slice(2)
    .map((line) => line.trim());

it('names the latest pod', () => {
  expect(invitation('/tmp/k', [])[1]).toBe('  export KUBECONFIG=/tmp/k');
  expect(commandsFor(podOf('red-0'), podOf('red-1'))).toEqual([
    'kubectl get pg',
    'kubectl get pods -o wide',
    'kubectl describe pod red-1',
  ]);
});

it('adds namespace flags if pods exist outside the default namespace', () => {
  expect(commandsFor(podOf('red-0'), podOf('blue-0', { namespace: 'team' }))).toEqual([
    'kubectl get pg -A',
    'kubectl get pods -o wide -A',
    'kubectl describe pod blue-0 -n team',
  ]);
});

it('names no pod if none exists', () => {
  expect(commandsFor()).toEqual(['kubectl get pg', 'kubectl get pods -o wide']);
});
