import type { Gang, MemberState } from '../../cluster/gang.ts';
import type { Scheduler } from '../../scheduler/scheduler.ts';
import type { Answer, Route } from '../route.ts';
import { isWish, pageAnswer, pageWish, readPage } from './page.ts';
import type { PageWish } from './page.ts';
import { shortened } from './shortened.ts';

const states: readonly MemberState[] = [
  'pending',
  'gated',
  'planned',
  'bound',
  'stranded',
  'succeeded',
  'failed',
  'leaving',
  'former',
];

/**
 * /debug/groups: the pod groups as the scheduler sees them: how many of how many members are where, and why not. With `?namespace=` and `?name=`
 * one group and its members, where each is; `limit` and `offset` then count members.
 */
export function groupsRoute(scheduler: Pick<Scheduler, 'picture'>): Route {
  return {
    path: '/debug/groups',
    isCostly: true,
    async answer(query) {
      const wish = pageWish(query, ['namespace', 'name']);
      if (!isWish(wish)) return wish;
      const { picture } = scheduler;
      const { namespace, name } = wish;
      if (namespace !== undefined && name !== undefined) {
        const gang = picture.cluster.gang(`${namespace}/${name}`);
        if (gang === undefined) return { status: 404, text: 'the scheduler knows no such group\n' };
        return membersAnswer(gang, wish, scheduler);
      }
      const page = await readPage(
        picture.cluster.gangs(),
        wish,
        ({ key }) =>
          (namespace === undefined || key.startsWith(`${namespace}/`)) &&
          (name === undefined || key.endsWith(`/${name}`)),
        (gang) => describe(gang, scheduler.picture),
      );
      return pageAnswer('groups', page, {});
    },
  };
}

async function membersAnswer(gang: Gang, wish: PageWish, scheduler: Pick<Scheduler, 'picture'>): Promise<Answer> {
  const page = await readPage(
    gang.members.values(),
    wish,
    () => true,
    (pod) => {
      const node = scheduler.picture.cluster.nodeOf(pod)?.name;
      return { name: pod.name, state: gang.stateOf(pod.uid), ...(node !== undefined && { node }) };
    },
  );
  return pageAnswer('members', page, describe(gang, scheduler.picture));
}

function describe(gang: Gang, picture: Scheduler['picture']): object {
  const slash = gang.key.indexOf('/');
  const counts = states.map((state) => [state, gang.count(state)] as const).filter(([, count]) => count > 0);
  const [waiting] = gang.pending.values();
  const verdict = waiting === undefined ? undefined : picture.verdictOf(waiting.uid);
  return {
    namespace: gang.key.slice(0, slash),
    name: gang.key.slice(slash + 1),
    // Absent: pods name a group of which there is no PodGroup.
    ...(gang.spec !== undefined && { minMember: gang.spec.minMember }),
    started: gang.started,
    size: gang.members.size,
    counted: gang.counted,
    missing: gang.missing,
    counts: Object.fromEntries(counts),
    ...(verdict !== undefined && {
      verdict: { reason: verdict.reason, waitsFor: verdict.waitsFor, message: shortened(verdict.message) },
    }),
  };
}
