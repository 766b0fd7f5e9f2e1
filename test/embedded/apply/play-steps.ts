import { readText } from '../../../src/client/read-text.ts';
import type { Transport, TransportRequest } from '../../../src/client/transport.ts';
import type { JsonObject, JsonValue } from '../../../src/plane/apiserver/json.ts';
import { applyMergePatch } from '../../../src/plane/apiserver/patch/index.ts';
import type { AppliedKind } from './applied-kinds.ts';
import type { ApplyStep } from './apply-steps.ts';

/** What one step was answered: of an object what it says and whose it is, of an error why. */
export interface StepOutcome {
  readonly status: number;
  readonly answer: JsonValue;
  /** Whether the object is another version than before. */
  readonly written: boolean;
}

/** Plays a sequence on an object of the name, from its creation on. */
export async function playSteps(
  transport: Transport,
  namespace: string,
  kind: AppliedKind,
  name: string,
  steps: readonly ApplyStep[],
): Promise<StepOutcome[]> {
  const collection = kind.path(namespace);
  const ask = async (
    method: TransportRequest['method'],
    path: string,
    body: JsonObject | undefined,
    contentType: string,
  ): Promise<{ status: number; body: JsonObject }> => {
    const request = { method, path, headers: { accept: 'application/json', 'content-type': contentType } };
    const response = await transport.send({ ...request, ...(body && { body: JSON.stringify(body) }) });
    return { status: response.status, body: JSON.parse(await readText(response.body)) as JsonObject };
  };
  const named = (content: JsonObject): JsonObject => ({
    ...kind.base,
    ...content,
    metadata: { ...(content.metadata as JsonObject | undefined), name },
  });
  const outcomes: StepOutcome[] = [];
  let version: JsonValue | undefined;
  for (const step of steps) {
    const path = `${collection}/${name}${'status' in step && step.status === true ? '/status' : ''}`;
    const query = `?fieldManager=${step.manager}`;
    let answer: { status: number; body: JsonObject };
    switch (step.do) {
      case 'apply':
        answer = await ask(
          'PATCH',
          `${path}${query}&force=${step.force}`,
          named(step.config),
          'application/apply-patch+yaml',
        );
        break;
      case 'merge':
      case 'strategic': {
        const mediaType = step.do === 'merge' ? 'merge-patch' : 'strategic-merge-patch';
        answer = await ask('PATCH', `${path}${query}`, step.patch, `application/${mediaType}+json`);
        break;
      }
      case 'replace': {
        const present = await ask('GET', path, undefined, 'application/json');
        answer =
          present.status === 404
            ? await ask('POST', `${collection}${query}`, named(step.patch), 'application/json')
            : await ask(
                'PUT',
                `${path}${query}`,
                applyMergePatch(present.body, step.patch) as JsonObject,
                'application/json',
              );
      }
    }
    const now = answer.body.kind === 'Status' ? version : (answer.body.metadata as JsonObject).resourceVersion;
    outcomes.push({
      status: answer.status,
      answer: comparable(answer.body, namespace, name),
      written: now !== version,
    });
    version = now;
  }
  await ask('DELETE', `${collection}/${name}`, undefined, 'application/json');
  return outcomes;
}

/** Without what differs from server to server and from run to run. */
function comparable(body: JsonObject, namespace: string, name: string): JsonValue {
  if (body.kind === 'Status') {
    const { causes = [] } = (body.details ?? {}) as { causes?: JsonObject[] };
    const conflicts = causes.filter((cause) => cause.reason === 'FieldManagerConflict');
    return { reason: body.reason!, conflicts: conflicts.map((cause) => JSON.stringify(cause)).sort() };
  }
  const { metadata, spec, ...rest } = body as { metadata: JsonObject; spec?: JsonObject };
  const { managedFields = [], uid: _uid, resourceVersion: _version, creationTimestamp: _time, ...kept } = metadata;
  const managers = (managedFields as JsonObject[]).map(({ time, ...manager }) => ({
    ...manager,
    hasTime: time !== undefined,
  }));
  const { clusterIP: _address, clusterIPs: _addresses, ...ownSpec } = spec ?? {};
  const text = JSON.stringify({
    ...rest,
    metadata: { ...kept, managers: managers.sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1)) },
    spec: ownSpec,
  });
  return JSON.parse(text.replaceAll(namespace, '<namespace>').replaceAll(name, '<name>')) as JsonValue;
}

/** Managers are in the order of their times, which are those of two servers. */
function sortKey({ operation, manager, subresource }: JsonObject): string {
  return JSON.stringify([operation, manager, subresource]);
}
