import { groupKeyOf, parseGroupKey } from '../../api/group-key.ts';
import { memberStates } from '../../cluster/gang-view.ts';
import type { Gang } from '../../cluster/gang.ts';
import type { Scheduler } from '../../scheduler/scheduler.ts';
import type { Answer, Route } from '../route.ts';
import { isPageRequest, pageAnswer, pageRequest, readPage } from './page.ts';
import type { PageRequest } from './page.ts';

/**
 * Serves /debug/groups: the pod groups as the scheduler sees them, with member counts per state and the verdict. With
 * `?namespace=` and `?name=` it shows one group and its members, each with state and node; `limit` and `offset` then apply to
 * members. `?source=scheduling.k8s.io` selects the PodGroups of Kubernetes itself.
 */
export function groupsRoute(scheduler: Pick<Scheduler, 'state'>): Route {
  return {
    path: '/debug/groups',
    isCostly: true,
    async answer(query) {
      const request = pageRequest(query, ['namespace', 'name', 'source']);
      if (!isPageRequest(request)) return request;
      const { state } = scheduler;
      const { namespace, name, source } = request;
      if (namespace !== undefined && name !== undefined) {
        const gang = state.cluster.gang(
          groupKeyOf(source === 'scheduling.k8s.io' ? source : 'scheduling.x-k8s.io', namespace, name),
        );
        if (gang === undefined) return { status: 404, text: 'the scheduler does not know this group\n' };
        return membersAnswer(gang, request, scheduler);
      }
      const page = await readPage(
        state.cluster.gangs(),
        request,
        ({ key }) => {
          const group = parseGroupKey(key);
          return (
            (namespace === undefined || group.namespace === namespace) &&
            (name === undefined || group.name === name) &&
            (source === undefined || group.source === source)
          );
        },
        (gang) => describe(gang, scheduler.state),
      );
      return pageAnswer('groups', page, {});
    },
  };
}

async function membersAnswer(gang: Gang, request: PageRequest, scheduler: Pick<Scheduler, 'state'>): Promise<Answer> {
  const page = await readPage(
    gang.members.values(),
    request,
    () => true,
    (pod) => {
      const node = scheduler.state.cluster.nodeOf(pod)?.name;
      return { name: pod.name, state: gang.stateOf(pod.uid), ...(node !== undefined && { node }) };
    },
  );
  return pageAnswer('members', page, describe(gang, scheduler.state));
}

function describe(gang: Gang, state: Scheduler['state']): object {
  const { source, namespace, name } = parseGroupKey(gang.key);
  const counts = memberStates.map((state) => [state, gang.count(state)] as const).filter(([, count]) => count > 0);
  const [waiting] = gang.pending.values();
  const verdict = waiting === undefined ? undefined : state.verdictOf(waiting.uid);
  return {
    source,
    namespace,
    name,
    // Absent: pods name a group without a PodGroup.
    ...(gang.spec !== undefined && { minMember: gang.spec.minMember }),
    started: gang.started,
    size: gang.members.size,
    counted: gang.counted,
    missing: gang.missing,
    counts: Object.fromEntries(counts),
    ...(verdict !== undefined && {
      verdict: { reason: verdict.reason, waitsFor: verdict.waitsFor, message: verdict.message },
    }),
  };
}
