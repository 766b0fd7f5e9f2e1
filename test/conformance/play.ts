import type { TestPlane } from '../planes/plane.ts';
import type { ConformanceCase } from './conformance-case.ts';
import { Conversation } from './conversation.ts';
import type { Exchange } from './exchange.ts';

/** Plays a case on the plane, in a namespace of its own; `namespace` must not have been used there. */
export async function playCase(plane: TestPlane, namespace: string, run: ConformanceCase): Promise<readonly Exchange[]> {
  const api = new Conversation(plane.transport, namespace);
  await api.givenCreated('/api/v1/namespaces', { metadata: { name: namespace } });
  await run(api);
  return api.exchanges;
}
