import { expect, test } from 'vitest';
import { ForbiddenError } from '../client/api-errors.ts';
import { silentLogger } from '../observability/silent-logger.ts';
import { eventFailureLog } from './event-failure-log.ts';

const details = {
  status: 403,
  reason: 'Forbidden',
  request: 'POST /apis/events.k8s.io/v1/namespaces/a/events',
  causes: [],
};
const missingPermission = new ForbiddenError(
  'events.events.k8s.io is forbidden: User "system:serviceaccount:a:b" cannot create resource "events" in API group "events.k8s.io" in the namespace "a"',
  details,
);
const namespaceTerminating = new ForbiddenError(
  'events.events.k8s.io "x" is forbidden: unable to create new content in namespace a because it is being terminated',
  { ...details, causes: [{ reason: 'NamespaceTerminating' }] },
);

test('warns once about a missing permission, and logs other failures at level debug', () => {
  const lines: string[] = [];
  const failed = eventFailureLog({
    ...silentLogger,
    warn: () => void lines.push('warn'),
    debug: () => void lines.push('debug'),
  });
  for (const error of [
    new Error('connection lost'),
    namespaceTerminating,
    missingPermission,
    missingPermission,
    namespaceTerminating,
  ])
    failed(error);
  expect(lines).toEqual(['debug', 'debug', 'warn', 'debug', 'debug']);
});
