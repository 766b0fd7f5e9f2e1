import type { PodTemplate } from '../api/pod.ts';

/** Wraps `read` with a cache of one entry, the latest template. Consecutive members of a gang share their template. */
export function latestTemplate<T>(read: (template: PodTemplate) => T): (template: PodTemplate) => T {
  let latest: { readonly template: PodTemplate; readonly result: T } | undefined;
  return (template) => {
    if (latest?.template !== template) latest = { template, result: read(template) };
    return latest.result;
  };
}
