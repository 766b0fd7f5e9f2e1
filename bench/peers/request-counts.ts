/**
 * What an API server has been asked: `VERB resource/subresource` -> number of requests, from `apiserver_request_total` of its
 * /metrics. That counter does not know who asked.
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

/** What the schedulers read and write for a pod or a group, and the load generator never does once the load has begun. */
const schedulerCall = /^(POST|PUT|PATCH|APPLY|DELETE|GET) (pods(\/\w+)?|bindings|events|podgroups(\/\w+)?)$/;
const generatorCall = 'POST pods';

/**
 * The calls of the scheduler between two readings. Told from the generator's own (which makes pods, and watches) and from
 * the API server's own (leases, services, …) by verb and resource, since no label of the counter names the client.
 */
export function schedulerCalls(before: RequestCounts, after: RequestCounts): Readonly<Record<string, number>> {
  const calls: Record<string, number> = {};
  for (const key of [...after.keys()].sort()) {
    const count = after.get(key)! - (before.get(key) ?? 0);
    if (count > 0 && key !== generatorCall && schedulerCall.test(key)) calls[key] = count;
  }
  return calls;
}
