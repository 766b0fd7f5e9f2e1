/**
 * Returns the requests to an API server, from `apiserver_request_total` in its /metrics: `VERB resource/subresource` -> number of requests.
 * The counter does not identify clients.
 */
export type RequestCounts = ReadonlyMap<string, number>;

export function parseRequestCounts(metrics: string): RequestCounts {
  const counts = new Map<string, number>();
  for (const line of metrics.split('\n')) {
    if (!line.startsWith('apiserver_request_total{')) continue;
    const labels = Object.fromEntries(
      [...line.slice(0, line.lastIndexOf('}')).matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
    ) as Readonly<Record<string, string>>;
    const { verb = '', resource = '', subresource = '' } = labels;
    const key = `${verb} ${resource}${subresource === '' ? '' : `/${subresource}`}`;
    counts.set(key, (counts.get(key) ?? 0) + Number(line.slice(line.lastIndexOf(' ') + 1)));
  }
  return counts;
}

/** Calls that schedulers make for pods and groups, and the load generator does not make during the load. */
const schedulerCall = /^(POST|PUT|PATCH|APPLY|DELETE|GET) (pods(\/\w+)?|bindings|events|podgroups(\/\w+)?)$/;
const generatorCall = 'POST pods';

/**
 * Returns the calls of the scheduler between two readings. Verb and resource distinguish them from the calls of the load generator (creates
 * and watches of pods) and of the API server itself (leases, services, …), because the counter has no label for the client.
 */
export function schedulerCalls(before: RequestCounts, after: RequestCounts): Readonly<Record<string, number>> {
  const calls: Record<string, number> = {};
  for (const key of [...after.keys()].sort()) {
    const count = after.get(key)! - (before.get(key) ?? 0);
    if (count > 0 && key !== generatorCall && schedulerCall.test(key)) calls[key] = count;
  }
  return calls;
}
