import { closestName } from '../base/closest-name.ts';
import { describe, describeThrown } from './plugin-answers.ts';
import type { Plugin } from './plugin.ts';

/** plugin member -> whether it must be a function */
const members: Readonly<Record<keyof Plugin, boolean>> = {
  name: false,
  decidesGangs: false,
  readsOtherNodes: false,
  dependsOnAssignedPods: true,
  dependsOnPod: true,
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
  preemptionLimits: false,
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

/** name in kube-scheduler or in the configuration -> name of the plugin member */
const otherNames: ReadonlyMap<string, string> = new Map([
  ['queueSort', 'compare'],
  ['less', 'compare'],
  ['addPod', 'preFilterAddPod'],
  ['removePod', 'preFilterRemovePod'],
  ['scoreExtensions', 'normalizeScore'],
]);

/**
 * Returns the problems with the members of an object that a factory returned. Each text continues a sentence that begins with the
 * plugin's name. Own and inherited members that are not in `Plugin` are problems, because the scheduler would never call a misspelled
 * extension point. Ignores symbols and members that all objects have, such as `toString`. Calls no getter of an unknown member.
 */
export function problemsOfMembers(made: object): readonly string[] {
  try {
    return [...unknownMembers(made)].map(rejection).concat(problemsOfValues(made));
  } catch (error) {
    return [`has members that cannot be read: ${describeThrown(error)}`];
  }
}

/** Ends the walk along the prototypes: a proxy can return a new prototype each time. */
const maxPrototypes = 100;

function unknownMembers(made: object): ReadonlySet<string> {
  const unknown = new Set<string>();
  let depth = 0;
  for (let holder: object | null = made; holder !== null; holder = Reflect.getPrototypeOf(holder)) {
    if (++depth > maxPrototypes) throw new RangeError(`more than ${maxPrototypes} prototypes`);
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
  return `has a member ${shown}, which is not an extension point; ${advice}make it #private, or move it out of the plugin`;
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
