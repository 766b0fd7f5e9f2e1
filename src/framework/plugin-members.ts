import { closestName } from '../base/closest-name.ts';
import { describe, describeThrown } from './plugin-answers.ts';
import type { Plugin } from './plugin.ts';

/** Every member of the contract -> whether it has to be a function. */
const members: Readonly<Record<keyof Plugin, boolean>> = {
  name: false,
  decidesGangs: false,
  readsOtherNodes: false,
  dependsOnAssignedPods: true,
  reads: false,
  readsImages: false,
  asyncDeadlineMs: false,
  sign: true,
  signCluster: true,
  preEnqueue: true,
  compare: true,
  preFilter: true,
  preFilterAddPod: true,
  preFilterRemovePod: true,
  rulesOut: true,
  filter: true,
  filterAll: true,
  domainsFor: true,
  postFilter: true,
  preScore: true,
  score: true,
  scoreAll: true,
  normalizeScore: true,
  reserve: true,
  unreserve: true,
  permit: true,
  preBindPreFlight: true,
  preBind: true,
  bind: true,
  postBind: true,
  eventsToRegister: true,
};

/** name that kube-scheduler or the configuration uses -> member that it is here */
const otherNames: ReadonlyMap<string, string> = new Map([
  ['queueSort', 'compare'],
  ['less', 'compare'],
  ['addPod', 'preFilterAddPod'],
  ['removePod', 'preFilterRemovePod'],
  ['scoreExtensions', 'normalizeScore'],
]);

/**
 * Returns what is wrong with the members of what a factory made, as ends of sentences that begin with the plugin's name. A misspelled
 * point would never be called, so own and inherited members that are not in the contract are rejected. Symbols and what all objects
 * have, such as `toString`, are not looked at, and no getter of an unknown member runs.
 */
export function problemsOfMembers(made: object): readonly string[] {
  try {
    return [...unknownMembers(made)].map(rejection).concat(problemsOfValues(made));
  } catch (error) {
    return [`has members that cannot be read: ${describeThrown(error)}`];
  }
}

/** A proxy can answer with a new prototype forever. */
const deepestChain = 100;

function unknownMembers(made: object): ReadonlySet<string> {
  const unknown = new Set<string>();
  let depth = 0;
  for (let holder: object | null = made; holder !== null; holder = Reflect.getPrototypeOf(holder)) {
    if (++depth > deepestChain) throw new RangeError(`more than ${deepestChain} prototypes`);
    for (const member of Object.getOwnPropertyNames(holder)) {
      if (!Object.hasOwn(members, member) && !(member in Object.prototype)) unknown.add(member);
    }
  }
  return unknown;
}

function rejection(member: string): string {
  const shown = /^[\w$]{1,64}$/.test(member) ? member : describe(member);
  const meant = otherNames.get(member) ?? closestName(member, Object.keys(members));
  const advice = meant === undefined ? '' : `did you mean ${meant}? Otherwise `;
  return `has a member ${shown}, which is no extension point; ${advice}make it #private, or move it out of the plugin`;
}

function problemsOfValues(made: object): readonly string[] {
  return Object.entries(members).flatMap(([member, isFunction]) => {
    let value: unknown;
    try {
      value = (made as Readonly<Record<string, unknown>>)[member];
    } catch (error) {
      return [`has a ${member} that cannot be read: ${describeThrown(error)}`];
    }
    const isRight = !isFunction || value === undefined || typeof value === 'function';
    return isRight ? [] : [`has a ${member} that is not a function but ${describe(value)}`];
  });
}
