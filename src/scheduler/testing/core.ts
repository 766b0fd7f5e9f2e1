import type { PodBinding } from '../../framework/plugin-handle.ts';
import { createMetricRegistry } from '../../observability/metric-registry.ts';
import { silentLogger } from '../../observability/testing/silent-logger.ts';
import type { Pod } from '../../api/pod.ts';
import { isTerminal } from '../../api/pod.ts';
import { BindingCycle } from '../binding-cycle.ts';
import { BindingOutcomes } from '../binding-outcomes.ts';
import { SchedulerMetrics } from '../scheduler-metrics.ts';
import { SchedulingCycle } from '../scheduling-cycle.ts';
import type { CycleResult } from '../scheduling-cycle.ts';
import { VerdictWriter } from '../verdict-writer.ts';
import { Queueing } from './queueing.ts';
import type { PictureOptions } from './picture.ts';

/** A Binding that the API server has not answered yet. */
export interface PendingBind {
  readonly binding: PodBinding;
  readonly accept: () => void;
  readonly refuse: (reason: string) => void;
}

/** The scheduler without the API server: the test says what the watches show, and answers every Binding. */
export class Core extends Queueing {
  readonly binds: PendingBind[];
  /** `name message`, in the order in which verdicts were patched. */
  readonly verdicts: string[] = [];
  readonly events: string[] = [];
  readonly stop = new AbortController();
  readonly binding: BindingCycle;
  readonly #cycle: SchedulingCycle;

  constructor(options: PictureOptions) {
    const binds: PendingBind[] = [];
    const bind = (binding: PodBinding): Promise<void> =>
      new Promise((resolve, reject) => {
        binds.push({ binding, accept: resolve, refuse: (reason) => reject(new Error(reason)) });
      });
    super({ ...options, binder: { bind } });
    this.binds = binds;
    const { cluster, clock, planner, handle } = this.picture;
    const openPod = (uid: string): Pod | undefined => {
      const pod = cluster.pod(uid);
      const isOpen = pod?.nodeName === '' && !pod.deleting && !isTerminal(pod) && !cluster.isAssumed(uid);
      return isOpen ? pod : undefined;
    };
    const patch = (path: string, _kind: string, body: unknown): Promise<never> => {
      const { status } = body as { status: { conditions: { message: string }[] } };
      this.verdicts.push(`${path.split('/').at(-2)} ${status.conditions[0]!.message}`);
      return Promise.resolve(undefined as never);
    };
    const outcomes = new BindingOutcomes({
      cluster,
      queue: this.queue,
      router: this.router,
      verdicts: new VerdictWriter({
        client: { patch },
        events: { record: () => undefined },
        clock,
        random: () => 0,
        logger: silentLogger,
        openPod,
        signal: this.stop.signal,
      }),
      events: { record: ({ reason, regarding }) => void this.events.push(`${reason} ${regarding.name}`) },
      metrics: new SchedulerMetrics(createMetricRegistry({ processMetrics: false }), {
        queue: () => this.queue.sizes,
        flushed: () => this.queue.flushed,
        nodes: () => 0,
        pods: () => 0,
        assumed: () => 0,
      }),
      clock,
      logger: silentLogger,
      openPod,
      signal: this.stop.signal,
    });
    this.#cycle = new SchedulingCycle({ cluster, clock, planner, waitingPods: handle.waitingPods });
    let plans = 0;
    this.binding = new BindingCycle({
      report: (result) => outcomes.handle(result),
      stillFits: () => undefined,
      planId: () => `plan-${++plans}`,
      signal: this.stop.signal,
    });
  }

  /** One attempt for what comes next; undefined when nothing does. */
  async attempt(): Promise<CycleResult['kind'] | undefined> {
    const entity = this.queue.pop();
    if (entity === undefined) return undefined;
    const result = this.#cycle.run(entity, this.picture.profile);
    if (result.kind === 'refused') this.queue.failed(entity, result.failure);
    else if (result.kind === 'notReady') this.queue.notReady(entity);
    else {
      const { candidate } = entity;
      const now = this.picture.clock.now();
      this.queue.done(entity);
      if (candidate.kind === 'gang') this.router.groupChanged(candidate.gang.key, result.kind, now);
      else this.router.podChanged(candidate.pod, result.kind, now);
      if (result.kind === 'planned') this.binding.start(result.plan);
    }
    await this.settle();
    return result.kind;
  }

  /** Lets everything run on that waits for neither a timer nor an answer. */
  async settle(): Promise<void> {
    for (let i = 0; i < 20; i++) await Promise.resolve();
  }

  /** The API server accepts the Binding of this pod; the watch shows it later, if at all. */
  async accept(name: string): Promise<void> {
    this.#take(name).accept();
    await this.settle();
  }

  async refuse(name: string, reason: string): Promise<void> {
    this.#take(name).refuse(reason);
    await this.settle();
  }

  #take(name: string): PendingBind {
    const index = this.binds.findIndex(({ binding }) => binding.name === name);
    if (index < 0) throw new Error(`${name} is not being bound`);
    return this.binds.splice(index, 1)[0]!;
  }
}
