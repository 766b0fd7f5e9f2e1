import type { SchedulerPorts } from '../ports.ts';

/** Ports whose calls succeed at once, and write nothing. The caller adds a binder and a verdict sink. */
export const answeredPorts: Omit<SchedulerPorts, 'binder' | 'verdicts'> = {
  events: { record: () => undefined },
  evictor: {
    mark: () => Promise.resolve(true),
    unmark: () => Promise.resolve(),
    evict: () => Promise.resolve(),
    release: () => Promise.resolve('going'),
  },
  volumes: { bind: () => Promise.resolve('1'), provision: () => Promise.resolve('1') },
};
