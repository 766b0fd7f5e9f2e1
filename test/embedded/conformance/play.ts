import type { TestPlane } from '../../planes/plane.ts';
import type { ConformanceCase } from './conformance-case.ts';
import { Conversation } from './conversation.ts';
import type { Exchange } from './exchange.ts';

/** Runs a case on the plane, in its own namespace; `namespace` must be unused there. */
export async function playCase(
  plane: TestPlane,
  namespace: string,
  run: ConformanceCase,
): Promise<readonly Exchange[]> {
  const api = new Conversation(plane.transport, namespace);
  await api.givenCreated('/api/v1/namespaces', { metadata: { name: namespace } });
  try {
    await run(api);
  } catch (error) {
    const last = JSON.stringify(api.exchanges.at(-1), undefined, 2);
    throw new Error(`the case of ${namespace} failed after ${last}`, { cause: error });
  }
  return api.exchanges;
}
