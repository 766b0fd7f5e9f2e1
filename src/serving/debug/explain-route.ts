import type { Explanation } from '../../api/explain/explanation.ts';
import type { Clock } from '../../base/clock.ts';
import { safeCopy } from '../../base/safe-copy.ts';
import { maxNameLength } from '../../base/safe-text.ts';
import { BusyError } from '../../scheduler/explain/explanations.ts';
import type { ExplanationPart } from '../../scheduler/explain/explainer.ts';
import type { SubjectName } from '../../scheduler/explain/find-subject.ts';
import type { Scheduler } from '../../scheduler/scheduler.ts';
import { jsonAnswer } from '../json-answer.ts';
import type { Answer, Route } from '../route.ts';

const parameters: readonly string[] = ['namespace', 'name', 'kind', 'source'];

/**
 * Serves /debug/explain: why a group or a pod waits, as an Explanation of explain.tutti.dev/v1alpha1. `?namespace=` and `?name=` select it;
 * `?kind=Pod` and `?source=scheduling.k8s.io` tell apart objects of one name. The scheduler makes one explanation at a time, between its
 * attempts. Others get status 429. All texts are safe to show.
 */
export function explainRoute(scheduler: Pick<Scheduler, 'explain'>, clock: Clock): Route {
  return {
    path: '/debug/explain',
    isCostly: true,
    async answer(query) {
      const name = subjectNameIn(query);
      if (!('namespace' in name)) return name;
      const askedAt = clock.now();
      try {
        const part = await scheduler.explain(name);
        if (part === undefined)
          return { status: 404, text: 'the scheduler knows neither a group nor a pod of this name\n' };
        return jsonAnswer(safeCopy(explanationOf(part, askedAt, clock.now())));
      } catch (error) {
        if (!(error instanceof BusyError)) throw error;
        return { status: 429, headers: { 'retry-after': '1' }, text: `${error.message}; try again\n` };
      }
    },
  };
}

function explanationOf({ unknowns, ...rest }: ExplanationPart, askedAt: number, now: number): Explanation {
  const ageSeconds = Math.round((now - askedAt) / 1000);
  return { ...rest, basis: { source: 'scheduler', takenAt: new Date(askedAt).toISOString(), ageSeconds, unknowns } };
}

function subjectNameIn(query: URLSearchParams): SubjectName | Answer {
  for (const each of query.keys())
    if (!parameters.includes(each)) return bad(`unknown parameter: this path accepts ${parameters.join(', ')}`);
  const read = (parameter: string): string | undefined => query.get(parameter) ?? undefined;
  const [namespace, name, kind, source] = parameters.map(read);
  if (!isName(namespace) || !isName(name)) return bad('namespace and name must be names');
  if (kind !== undefined && kind !== 'Pod' && kind !== 'PodGroup') return bad('kind must be Pod or PodGroup');
  if (source !== undefined && source !== 'scheduling.x-k8s.io' && source !== 'scheduling.k8s.io')
    return bad('source must be scheduling.x-k8s.io or scheduling.k8s.io');
  return { namespace, name, kind, source };
}

function isName(text: string | undefined): text is string {
  return text !== undefined && text !== '' && text.length <= maxNameLength;
}

function bad(message: string): Answer {
  return { status: 400, text: `${message}\n` };
}
