import type { Answer } from './route.ts';

/** Indented, because it is read by people as much as by programs. */
export function jsonAnswer(value: unknown, status = 200): Answer {
  return { status, type: 'application/json', text: `${JSON.stringify(value, undefined, 2)}\n` };
}

/** A rejection in the form that Kubernetes gives it. */
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
