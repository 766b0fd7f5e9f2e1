import type { Candidate } from '../../framework/candidate.ts';
import type { Plugin, PostFilterResult } from '../../framework/plugin.ts';
import type { Picture } from '../../testkit/picture.ts';

/** A PostFilter that answers what the test says. */
export function preempting(answer: (candidate: Candidate) => PostFilterResult | undefined): Plugin {
  return { name: 'Preempting', postFilter: (candidate) => answer(candidate) };
}

/** What PostFilter answers to have the victims make room for a pod on a node; pods by uid. */
export function roomFor(
  { cluster }: Picture,
  uid: string,
  nodeName: string,
  victims: readonly string[] = ['old'],
): PostFilterResult {
  return {
    message: 'makes room',
    nominations: [{ pod: cluster.pod(uid)!, nodeName }],
    victims: victims.map((victim) => cluster.pod(victim)!),
  };
}
