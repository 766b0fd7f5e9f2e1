import type { Answer } from './route.ts';

/** Returns an indented JSON response, readable for people and programs. */
export function jsonAnswer(value: unknown, status = 200): Answer {
  return { status, type: 'application/json', text: `${JSON.stringify(value, undefined, 2)}\n` };
}

/** Returns a rejection as a Kubernetes Status. */
export function statusAnswer(status: number, reason: string, message: string): Answer {
  return jsonAnswer(
    {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      reason,
      ...(reason === 'Forbidden' && { details: {} }),
      code: status,
    },
    status,
  );
}
